# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows in gdb where the units of a program that uses Weft stand, in live processes and core files; see
doc/debugging.md.

    (gdb) source weft.py
    (gdb) weft units [STATE]       every live unit, one line each
    (gdb) weft bt UNIT [full]      the backtrace of a unit: its id, its name, its address, or an expression
    (gdb) weft streams             the streams, one line each
    (gdb) print mutex              shows objects of Weft's headers as sentences; print/r shows their members

The commands write nothing of the program, neither registers nor memory, and call none of its functions. A gdb unwinder
unwinds a unit that does not run from its saved context: while it is enabled, it makes the unit's frames the callers of
the newest frame of the selected thread.

The layout of everything is read from the library's debug information; src/arch/<processor>/frame.h defines what lies on
a suspended stack, and switch.S the order of the registers of weft_context_call.
"""
import re
import struct

import gdb
import gdb.printing
import gdb.unwinder

SLAB_BYTES = 64 << 10  # mem/slab.hpp
ADDRESS = (1 << 48) - 1  # above lie generations of handles (unit/handle.hpp), or an AArch64 signature
POOLS = [
    "default",
    "private",
    "shared",
    "deque",
    "user",
    "lifo",
    "priority",
    "blocking",
]  # if the enum is not available


class Trouble(gdb.GdbError):
    """A sentence for the user, without a traceback."""


# ---- reading -------------------------------------------------------------------------------------


def load(value):
    """The value of an atomic: its type is the first template argument, and its bytes are the whole atomic."""
    kind = value.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return value
    return value.address.cast(kind.template_argument(0).pointer()).dereference()


def number(value):
    return int(load(value))


def relaxed_counter(value):
    return number(value["value_"])


def word(address):
    """Eight bytes of the program's memory."""
    return struct.unpack("<Q", gdb.selected_inferior().read_memory(address & ADDRESS, 8).tobytes())[0]


def global_value(name):
    """A variable of the library, or None."""
    for find in (gdb.lookup_static_symbol, gdb.lookup_global_symbol):
        symbol = find(name)
        if symbol is not None and symbol.is_variable:
            return symbol.value()
    return None


def runtime():
    """The Process of the running runtime; reports what is missing if there is none."""
    if not gdb.selected_inferior().pid and not gdb.selected_inferior().threads():
        raise Trouble("weft: no program is being debugged: run or attach to one, or load a core file.")
    active = global_value("weft::(anonymous namespace)::active")
    if active is None:
        try:
            gdb.parse_and_eval("(void*)&weft_initialized")
        except gdb.error:
            raise Trouble(
                "weft: this program has no Weft: no symbol weft_initialized is known (has libweft.so been loaded yet?)."
            )
        raise Trouble(
            "weft: libweft has no debug information here: compile it with -g (all presets do), do not strip it, or "
            "install "
            "its debug symbols where gdb looks for them (show debug-file-directory)."
        )
    found = load(active)
    if int(found) == 0:
        raise Trouble("weft: the runtime is not started: no weft_init yet, or the last weft_finalize has been.")
    return found.dereference()


class Place:
    """Places of code and data as text; cached, since many units are spawned at one place and wait for one object."""

    def __init__(self):
        self.code_names, self.data_names = {}, {}

    @staticmethod
    def symbol(address):
        text = gdb.execute(f"info symbol {address:#x}", to_string=True)
        return "" if text.startswith("No symbol") else re.sub(r" in section .*", "", text).strip()

    @staticmethod
    def without_arguments(name):
        """A function's name as gdb writes it, without the types that end it."""
        name = name.removesuffix(" const")
        depth = 0
        for at in range(len(name) - 1, -1, -1) if name.endswith(")") else ():
            depth += {")": 1, "(": -1}.get(name[at], 0)
            if depth == 0:
                return name[:at]
        return name

    @staticmethod
    def without_templates(name):
        """A name without template arguments."""
        while (shorter := re.sub(r"<[^<>]*>", "", name).strip()) != name:
            name = shorter
        return name

    def at(self, where, line):
        return self.place(self.without_arguments(self.symbol(where).split(" + ")[0]) or f"{where:#x}", line)

    @staticmethod
    def place(name, line):
        return name + (f" ({line[0].filename.rsplit('/', 1)[-1]}:{line[1]})" if line else "")

    # Functions through which programs spawn, and which C++ compilers inline into the programs.
    BETWEEN = re.compile(r"(weft|std|__gnu_cxx)::")

    def returns_to(self, address):
        """The place of the program's call that returns to this address."""
        if address not in self.code_names:
            self.code_names[address] = self.called_at(address - 1)
        return self.code_names[address]

    def called_at(self, address):
        """The program's innermost function and line there: functions of Weft's and the C++ library's headers are
        inlined into it."""
        found = gdb.find_pc_line(address)
        line = (found.symtab, found.line)
        if not found.symtab:
            return self.at(address, None)
        body = name = ""
        for function, is_inlined in self.functions(address):
            name = self.without_arguments(function.print_name)
            if name == "operator()":
                return self.at(address, line)  # in a lambda; its symbol says more
            if not self.BETWEEN.match(name):
                return self.place(name, line)
            spawns = re.fullmatch(r"weft::.*?<(.*)>", name)
            body = body or (spawns[1].strip() if spawns else "")
            if is_inlined:
                line = (function.symtab, function.line)  # where it is called
        # Such a function is not inlined: its caller is unknown, but the name of its instance
        # contains the body.
        if not body:
            return self.at(address, line)
        return f"{self.place(self.without_templates(name), line)} for {body}"

    @staticmethod
    def functions(address):
        """The functions at an address, innermost first, and whether they are inlined: all but the outermost are."""
        found, block = [], gdb.block_for_pc(address)
        while block is not None:
            if block.function is not None:
                found.append(block.function)
            block = block.superblock
        return [(function, function is not found[-1]) for function in found]

    def function(self, address):
        block = gdb.block_for_pc(address)
        while block is not None and block.function is None:
            block = block.superblock
        symbol = block.function if block is not None and block.start == address else None
        return self.at(address, symbol and (symbol.symtab, symbol.line))

    def data(self, address):
        if address not in self.data_names:
            name = self.symbol(address)
            self.data_names[address] = f"{address:#x}" + (f" <{name}>" if name else "")
        return self.data_names[address]


# ---- units ---------------------------------------------------------------------------------------


class Layout:
    """A unit's descriptor as numbers, because reading a million of them field by field takes minutes."""

    def __init__(self):
        kind = gdb.lookup_type("weft::Unit")
        self.bytes = kind.sizeof
        self.at, self.types = {}, {}
        self.walk(kind, 0)
        self.states = self.enum("weft::State")
        self.kinds = self.enum("weft::Kind")
        self.waits = self.enum("weft::Waits")

    def walk(self, kind, start):
        for field in kind.fields():
            if not hasattr(field, "bitpos"):
                continue  # a static member
            at = start + field.bitpos // 8
            if not field.name:
                self.walk(field.type, at)  # an anonymous union
            else:
                self.at[field.name], self.types[field.name] = at, field.type

    @staticmethod
    def enum(name):
        return {field.enumval: field.name.rsplit("::", 1)[-1] for field in gdb.lookup_type(name).fields()}

    def read(self, memory, at, name):
        start, size = at + self.at[name], self.types[name].sizeof
        return int.from_bytes(memory[start : start + size], "little")


class Unit:
    """The present state of one descriptor."""

    def __init__(self, layout, memory, at, address):
        def field(name):
            return layout.read(memory, at, name)

        self.address = address
        self.id = field("id")
        self.state = layout.states.get(field("life"), "?")
        self.kind = layout.kinds.get(field("kind"), "?")
        self.context, self.stack, self.pool = field("context"), field("stack"), field("pool")
        self.object, self.argument = field("waits_object"), field("argument")
        self.body = self.object  # a union: until it starts
        self.why = layout.waits.get(field("waits"), "?")
        self.until_ns = field("waits_until_ns")
        self.spawn_site = field("spawn_site") & ADDRESS  # above lies the tag of a sample
        start = at + layout.at["name"]
        self.name = (
            bytes(memory[start : start + layout.types["name"].sizeof]).split(b"\0")[0].decode("utf-8", "replace")
        )

    def __str__(self):
        return f"unit {self.id}" + (f" '{self.name}'" if self.name else "")

    def waits_for(self, program):
        """What the unit waits for, as text; empty if it waits for nothing."""
        if self.state == "suspended":
            return "is suspended until it is resumed"
        if self.state != "waiting":
            return ""
        what = "join" if self.why == "as_stated" else self.why.replace("_", " ")
        if what == "join":
            other = program.at(self.object)
            text = f"waits for the end of {other if other else hex(self.object & ADDRESS)}"
        elif what == "blocking":
            text = f"waits for a blocking call of {program.place.function(self.object)}"
        else:
            text = f"waits for {what}" + (f" {program.place.data(self.object)}" if self.object else "")
        if self.until_ns:
            text += f" until {self.until_ns / 1e9:.6f} s of the monotonic clock"
        return text


class OpenMP:
    """The places of OpenMP threads, from the records that the library itself uses for dumps
    (openmp/src/shown.cpp)."""

    LEVELS = 8  # at most so many are shown for a unit

    def __init__(self):
        self.by_unit, self.by_thread = {}, {}
        lists, roaming = global_value("weft_openmp::Lists::lists"), global_value("weft_openmp::Lists::roaming")
        if lists is None:
            return  # no such library, or no debug information for it
        try:
            for first in [lists[i] for i in range(lists.type.range()[1] + 1)] + [roaming]:
                self.walk(first)
        except gdb.MemoryError:
            pass  # a core file without these records: the others are shown

    def walk(self, shown):
        while int(shown):
            record = shown["thread_"].referenced_value()
            if int(shown["os_thread_"]):
                self.by_thread[int(shown["os_thread_"])] = record
            else:
                self.by_unit[number(shown["unit_"]) & ADDRESS] = record
            shown = shown["next_"]

    def place(self, unit, os_thread):
        """The teams as text, innermost first; empty if the unit is in none."""
        record = self.by_thread.get(os_thread) if os_thread else self.by_unit.get(unit)
        if record is None:
            return ""
        places, team, slot = [], record["team"], record["slot"]
        try:
            while len(places) < self.LEVELS and int(team) and int(slot) and int(team["level"]):
                places.append(
                    f"thread {int(slot['number'])} of {number(team['size'])}, level {int(team['level'])}, "
                    f"team {int(team):#x}"
                )
                team, slot = team["outer"], team["outer_slot"]
        except gdb.MemoryError:
            pass  # a team that has just gone
        return "OpenMP " + " in ".join(places) if places else ""


class Program:
    """The runtime as it stands, read once for each command."""

    MISSING = (
        "weft: this core file has zeros where the units were. gdb's generate-core-file gives up a mapping at the "
        "first guard of "
        "a stack (see its warnings); run the program with WEFT_GUARD=mprotect for it, or let the kernel write the "
        "core file."
    )

    def __init__(self):
        self.runtime = runtime()
        self.layout = Layout()
        self.place = Place()
        self.streams = [
            stream for stream in (self.stream(rank) for rank in range(int(self.runtime["ranks_used"]))) if stream
        ]
        self.unreadable = 0
        self.openmp = OpenMP()
        self.guests = {
            int(stream["role"]["guest"]["unit"]): number(stream["carrier"]["thread_id"])
            for stream in self.streams
            if int(stream["role"]["guest"])
        }
        primary = int(self.runtime["primary"])
        if primary and self.at(primary) is not None and not self.at(primary).id:
            raise Trouble(self.MISSING)

    def stream(self, rank):
        pointer = self.runtime["streams"][rank]
        return pointer.dereference() if int(pointer) else None

    def slabs(self):
        """The start of each slab, and how many of its objects were ever allocated."""
        store = self.runtime["descriptors"]
        header = gdb.lookup_type("weft::mem::Slab").pointer()
        for region in (store["open_"], store["full_"]):
            while int(region):
                used = int(region["used"])
                for slot in range(32):
                    if used >> slot & 1:
                        start = int(region["base"]) + slot * SLAB_BYTES
                        yield start, number(gdb.Value(start).cast(header)["carved"])
                region = region["next"]

    def units(self):
        """Every unit that is not free, by address."""
        reserved, size = int(self.runtime["descriptors"]["reserved_"]), self.layout.bytes
        free = next(value for value, name in self.layout.states.items() if name == "free")
        state_at = self.layout.at["life"]
        for start, carved in self.slabs():
            first = start + reserved * size
            try:
                memory = gdb.selected_inferior().read_memory(first, carved * size).tobytes() if carved else b""
            except gdb.MemoryError:
                self.unreadable += 1
                continue
            for at in range(0, len(memory), size):
                if memory[at + state_at] != free:
                    yield Unit(self.layout, memory, at, first + at)

    def at(self, handle):
        """The unit of a handle, or None if there is no unit at that address."""
        try:
            memory = gdb.selected_inferior().read_memory(handle & ADDRESS, self.layout.bytes).tobytes()
        except gdb.MemoryError:
            return None
        return Unit(self.layout, memory, 0, handle & ADDRESS)

    def fresh(self, unit):
        """Whether the unit has not started; a unit of kind full has a context from the beginning, at its entry."""
        if unit.state != "ready" or not unit.context:
            return not unit.context
        try:
            return "weft_context_entry" in self.place.symbol(processor().resumes(unit.context))
        except gdb.MemoryError:
            return False

    NAME_BYTES = 23  # the bytes of a name that are kept

    def find(self, text):
        """The units that the user means: by a name, which several may have, or one unit by its id, its address, or an
        expression. A number is taken for a name only if it is nothing else."""
        wanted = why = None
        try:
            value = gdb.parse_and_eval(text)
            wanted = int(unit_of(value) if is_handle(value) else value)
        except (gdb.error, ValueError, TypeError, OverflowError) as error:
            why = error
        name = text.encode()[: self.NAME_BYTES].decode("utf-8", "replace")
        named, meant = [], []
        for unit in self.units():
            if name and unit.name == name:
                named.append(unit)
            elif wanted and (unit.id == wanted or unit.address == wanted & ADDRESS):
                meant.append(unit)
        is_number = re.fullmatch(r"\d+|0x[0-9a-fA-F]+", text)
        found = meant or named if is_number else named or meant
        if found:
            return found
        if wanted is None:
            raise Trouble(
                f"weft: '{text}' is no unit: give its name, its id, the address of its descriptor, or an expression "
                f"that is one ({why})."
            )
        value = "" if is_number else f", whose value is {wanted:#x},"
        raise Trouble(
            f"weft: there is no unit {text}{value} by id, address or name; `weft units` lists those that live."
        )

    def placed(self, unit):
        """What libraries know about the unit, as text to append; or nothing."""
        text = self.openmp.place(unit.address, self.guests.get(unit.address, 0))
        return f"  {text}" if text else ""

    def runs(self, unit):
        """The stream that runs the unit, or None."""
        for stream in self.streams:
            if int(stream["running"]) == unit.address:
                return stream
        return None

    def schedules(self, unit):
        """The stream on which this unit, a scheduler, is running other units now, or None."""
        for stream in self.streams:
            by = stream["sched"]
            if int(by) and int(by["unit"]) == unit.address and int(stream["running"]) != unit.address:
                return stream
        return None

    def stands(self, unit):
        """The stream whose OS thread is on the unit's stack at this moment, or None."""
        if not unit.stack:
            return None
        stack = gdb.Value(unit.stack).cast(gdb.lookup_type("weft::mem::Stack").pointer())
        lowest, size = int(stack["lowest"]), int(stack["bytes"])
        for stream in self.streams:
            thread = thread_of(stream)
            if thread is not None and lowest <= newest_sp(thread) < lowest + size:
                return stream
        return None


# ---- threads and frames --------------------------------------------------------------------------


def thread_of(stream):
    return thread_by(number(stream["carrier"]["thread_id"]))


def host_of(unit):
    """The thread that a hosted unit is to the C library: it is parked, and has the unit's thread-local variables."""
    if unit.kind != "hosted" or not unit.stack:
        return None
    host = (
        gdb.Value(unit.stack)
        .cast(gdb.lookup_type("weft::mem::Stack").pointer())
        .cast(gdb.lookup_type("weft::context::Host").pointer())
    )
    return thread_by(number(host["thread"]["id"]))


def thread_by(lwp):
    for thread in gdb.selected_inferior().threads():
        if lwp and thread.ptid[1] == lwp:
            return thread
    return None


class Selection:
    """Preserves the user's selection during a command."""

    def __enter__(self):
        self.thread = gdb.selected_thread()
        if self.thread is None:
            raise Trouble("weft: no thread is selected.")
        if self.thread.is_running():
            raise Trouble("weft: the selected thread runs: interrupt the program first.")
        self.level = gdb.selected_frame().level()
        return self

    def __exit__(self, *_):
        self.thread.switch()
        frame = gdb.newest_frame()
        for _ in range(self.level):
            frame = frame.older()
        frame.select()


def register(name, frame=None):
    return int((frame or gdb.newest_frame()).read_register(name)) & (1 << 64) - 1


def newest_sp(thread):
    with Selection():
        thread.switch()
        return register(processor().sp)


class X86:
    pc, sp = "rip", "rsp"
    constant = ()

    @staticmethod
    def saved(context, called):
        """The registers of the caller of the switch. `called`: the switch was weft_context_call, which pushes more than
        a swap."""
        if called:
            names = ["rbp", "rbx", "r12", "r13", "r14", "r15"]
            kept = {name: word(context + 8 + 8 * i) for i, name in enumerate(names)}
            return {"rip": word(context + 64), "rsp": context + 72, **kept}  # between them: a word for the caller
        return {"rip": word(context), "rbp": word(context + 8), "rsp": context + 16}

    @staticmethod
    def resumes(context):
        return word(context)


class AArch64:
    pc, sp = "pc", "sp"
    constant = ("pauth_dmask", "pauth_cmask")  # equal in all frames: a return address's signature bits

    @staticmethod
    def saved(context, called):
        if called:
            names = ["x29", "x30"] + [f"x{number}" for number in range(19, 29)]
            found = {name: word(context + 16 + 8 * i) for i, name in enumerate(names)}
            return {"pc": found.pop("x30") & ADDRESS, "sp": context + 16 + 176, **found}
        return {"pc": word(context + 8) & ADDRESS, "x29": word(context), "sp": context + 16}

    @staticmethod
    def resumes(context):
        return word(context + 8) & ADDRESS


def processor():
    name = gdb.selected_frame().architecture().name()
    if name.startswith("i386:x86-64"):
        return X86
    if name.startswith("aarch64"):
        return AArch64
    raise Trouble(f"weft: no unwinder for '{name}': Weft has x86-64 and AArch64.")


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = gdb.Value(sp), gdb.Value(pc)


class UnitUnwinder(gdb.unwinder.Unwinder):
    """Enabled only while a unit's frames are shown: the newest frame of the thread was called by the unit."""

    def __init__(self):
        super().__init__("weft unit")
        self.enabled = False
        self.newest = self.registers = None

    def show(self, registers, show):
        """Calls show() while the frames are those of the unit."""
        cpu = processor()
        self.newest = (register(cpu.pc), register(cpu.sp))
        self.cpu, self.registers, self.enabled = cpu, registers, True
        gdb.invalidate_cached_frames()
        try:
            return show()
        finally:
            self.enabled = False
            gdb.invalidate_cached_frames()

    def __call__(self, pending):
        pc, sp = pending.read_register(self.cpu.pc), pending.read_register(self.cpu.sp)
        if (int(pc) & (1 << 64) - 1, int(sp) & (1 << 64) - 1) != self.newest:
            return None
        made = pending.create_unwind_info(FrameId(int(sp), int(pc)))
        for name, value in self.registers.items():
            made.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        for name in self.cpu.constant:
            try:
                made.add_saved_register(name, pending.read_register(name))
            except ValueError:
                pass  # a processor, or a remote target, without them
        return made


UNWINDER = UnitUnwinder()
gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)


def backtrace(program, context, option):
    """The text of the backtrace of a saved context, frames counted from 0."""
    cpu = processor()
    try:
        missing = not cpu.resumes(context)
    except gdb.MemoryError:
        missing = True
    if missing:
        return f"its stack cannot be read here (context {context:#x}): see \"core files\" in Weft's doc/debugging.md\n"
    called = "weft_context_call" in program.place.symbol(cpu.resumes(context))
    registers = cpu.saved(context, called)
    with Selection():
        gdb.newest_frame().select()
        text = UNWINDER.show(registers, lambda: gdb.execute(f"backtrace {option}", to_string=True))
    # The thread's newest frame comes first, and is not the unit's.
    _, mark, rest = text.partition("\n#1 ")
    rest = ("#1 " + rest) if mark else ""
    return re.sub(r"^#(\d+) +", lambda found: f"#{int(found[1]) - 1:<3}", rest, flags=re.M)


# ---- commands ------------------------------------------------------------------------------------


def arguments(text, least, most, usage):
    words = gdb.string_to_argv(text)
    if not least <= len(words) <= most:
        raise Trouble(f"weft: usage: {usage}")
    return words


class WeftCommand(gdb.Command):
    """Where the units of a program that uses Weft stand: weft units, weft bt UNIT, weft streams."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STATUS, prefix=True)


class UnitsCommand(gdb.Command):
    """Every unit that lives, a line each: id, state, kind, name, what it waits for, who runs it, where it was spawned.

        weft units [STATE]

    STATE shows those of one state: ready, running, suspended (anybody may resume it), waiting (for what is said), done.
    """

    STATES = ["ready", "running", "suspended", "waiting", "done"]

    def __init__(self):
        super().__init__("weft units", gdb.COMMAND_STATUS)

    def complete(self, text, word_):
        return [state for state in self.STATES if state.startswith(word_)]

    def invoke(self, text, from_tty):
        words = arguments(text, 0, 1, "weft units [STATE]")
        if words and words[0] not in self.STATES:
            raise Trouble(f"weft: '{words[0]}' is no state; states are: {', '.join(self.STATES)}.")
        program, count = Program(), 0
        for unit in program.units():
            if words and unit.state != words[0]:
                continue
            count += 1
            print(self.line(program, unit))
        print(f"{count} unit{'s' if count != 1 else ''}" + (f" {words[0]}" if words else ""))
        if program.unreadable:
            print(f"{program.unreadable} slabs of descriptors cannot be read here: a core file without them?")

    @staticmethod
    def line(program, unit):
        does = unit.waits_for(program)
        runs = program.runs(unit) or (program.schedules(unit) if unit.state == "running" else None)
        if unit.state == "running":
            does = f"on stream {int(runs['rank'])}" if runs else "on no stream's record: it is being switched"
        elif unit.state == "ready":
            does = f"in pool {unit.pool:#x}" + (", not started" if program.fresh(unit) else "")
        site = f"  spawned at {program.place.returns_to(unit.spawn_site)}" if unit.spawn_site else ""
        return f"{unit.id:<15} {unit.state:<9} {unit.kind:<7} '{unit.name}'  {does}{program.placed(unit)}{site}"


class BacktraceCommand(gdb.Command):
    """The backtrace of one unit, whatever it does, or of all that have one name.

        weft bt UNIT [full]

    UNIT is an id or a name as `weft units` shows them, the address of a descriptor, or an expression (a weft_unit*, a
    weft::thread). A name with blanks stands in quotes. With `full`, gdb prints the locals too."""

    def __init__(self):
        super().__init__("weft bt", gdb.COMMAND_STACK)

    def invoke(self, text, from_tty):
        words = arguments(text, 1, 2, "weft bt UNIT [full]")
        if len(words) == 2 and words[1] != "full":
            raise Trouble(f"weft: '{words[1]}' is unknown here; usage: weft bt UNIT [full]")
        option = words[1] if len(words) == 2 else ""
        program = Program()
        for unit in program.find(words[0]):
            self.show(program, unit, option)

    def show(self, program, unit, option):
        stands = program.stands(unit)
        runs = program.runs(unit)
        above = program.schedules(unit) if unit.state == "running" else None
        host = host_of(unit)
        if host is not None:
            print(
                f"{unit} is hosted by thread {host.num} (LWP {host.ptid[1]}): select that for its thread-local "
                f"variables."
            )
        if placed := program.placed(unit).strip():
            print(f"{unit} is {placed}.")
        if unit.state == "done":
            print(f"{unit} has ended and is not freed yet: it has no frames.")
        elif stands is not None or runs is not None:
            self.show_running(unit, stands if stands is not None else runs, stands is not None, option)
        elif above is not None:
            print(f"{unit} is a scheduler; it runs others on stream {int(above['rank'])} meanwhile:")
            print(backtrace(program, int(above["sched_context"]["context"]), option), end="")
        elif unit.state == "running":
            print(f"{unit} is a scheduler below another one, or is being switched; its frames are not to be found.")
        elif program.fresh(unit):
            argument = program.place.data(unit.argument) if unit.argument else "a null argument"
            print(f"{unit} has not started: it will call {program.place.function(unit.body)} with {argument}.")
        else:
            print(f"{unit} {unit.waits_for(program) or 'is ready, in pool ' + hex(unit.pool)}:")
            print(backtrace(program, unit.context, option), end="")

    @staticmethod
    def show_running(unit, stream, on_its_stack, option):
        rank, thread = int(stream["rank"]), thread_of(stream)
        if thread is None:
            raise Trouble(
                f"weft: {unit} runs on stream {rank}, whose OS thread {number(stream['carrier']['thread_id'])} is "
                f"not to be found here."
            )
        with Selection():
            thread.switch()
            gdb.newest_frame().select()
            text = gdb.execute(f"backtrace {option}", to_string=True)
        print(f"{unit} runs on stream {rank}, thread {thread.num} (LWP {thread.ptid[1]}):")
        if unit.kind == "tasklet" or (unit.kind == "sc" and not unit.stack):
            print(re.split(r"^(?=#\d+ .*\bweft::\(anonymous namespace\)::run_here\b)", text, 1, re.M)[0], end="")
            print("Below are frames of the stream, on whose stack it runs.")
        else:
            print(text, end="")


class StreamsCommand(gdb.Command):
    """The streams, a line each: rank, name, what it does, its OS thread, how often it ran a unit, its pools with their
    lengths.

    weft streams"""

    def __init__(self):
        super().__init__("weft streams", gdb.COMMAND_STATUS)

    def invoke(self, text, from_tty):
        arguments(text, 0, 0, "weft streams (it takes nothing)")
        program = Program()
        for stream in program.streams:
            print(self.line(program, stream))

    @staticmethod
    def does(program, stream):
        attention = number(stream["attention"])
        unit = program.at(int(stream["running"])) if int(stream["running"]) else None
        if not number(stream["carrier"]["thread_id"]):
            return "not started"
        if unit is not None:
            return f"runs {unit}" + (", is to pause" if attention & 2 else "")
        if attention & 2:
            return "paused"
        return "asleep" if number(stream["sleep"]["sleeper"]["state_"]) == 2 else "idle"

    def line(self, program, stream):
        thread = thread_of(stream)
        where = f"LWP {number(stream['carrier']['thread_id'])}" + (
            f" (thread {thread.num})" if thread is not None else ""
        )
        counts = stream["counters"]["values_"]
        names = Layout.enum("weft::trace::Count")
        runs = sum(
            relaxed_counter(counts[value])
            for value, name in names.items()
            if name in ("finished", "suspended", "yielded")
        )
        sched = stream["sched"]
        pools = [sched["pools"][i] for i in range(int(sched["count"]))] if int(sched) else []
        if int(stream["own"]):
            pools.append(stream["own"].cast(gdb.lookup_type("weft::Pool").pointer()))
        listed = ", ".join(self.pool(pool) for pool in pools)
        name, does = stream['name'].string(), self.does(program, stream)
        return f"{int(stream['rank']):<3} '{name}'  {does}  {where}  ran {runs}  pools: {listed}"

    @staticmethod
    def pool(pointer):
        kind = str(pointer["kind"]).removeprefix("WEFT_POOL_").lower()
        return f"{int(pointer):#x} {kind} {StreamsCommand.length(kind, pointer)}"

    @staticmethod
    def length(kind, pointer):
        """Counts like pool::length, without calling a function."""

        def seen_as(name):
            return pointer.cast(gdb.lookup_type(f"weft::{name}").pointer())

        def chain(node):
            count = 0
            while node and count < 4096:
                node, count = word(node), count + 1  # the link lies first in a descriptor
            return count

        if kind == "private":
            pool = seen_as("PrivatePool")
            return relaxed_counter(pool["waiting"]) + chain(number(pool["inbox"]["newest_"]))
        if kind in ("shared", "blocking"):
            return chain(number(seen_as("SharedPool")["ready"]["head_"]))
        if kind in ("lifo", "priority"):
            return number(seen_as("LockedPool")["count"])
        if kind == "deque":
            pool = seen_as("DequePool")
            ring = number(pool["ring"]["bottom_"]) - number(pool["ring"]["top_"])
            return max(ring, 0) + chain(number(pool["spill"]["head_"]))
        return "(the program's own: its length is not known)"


# ---- what print shows of the headers' objects ----------------------------------------------------


def short_name(value):
    """The type as the program writes it: without the inline namespace."""
    name = re.sub(r"\bweft::v\d+::", "weft::", value.type.unqualified().strip_typedefs().name or "")
    return name.removesuffix("<weft::detail::nothing_to_complete>")


def many(count, one, several):
    return f"{count} {one if count == 1 else several}"


class Object:
    """An object that units wait for: its word, and its body behind that (sync/objects.hpp)."""

    BUSY = 1 << 31  # sync/word.hpp
    MOST_WAITERS = 1000  # no more are counted
    WHO, ORDERS = "weft::sync::AgentRef", "weft::sync::WordOrders"

    def __init__(self, value, body, parameters=1):
        if value.address is None:
            raise gdb.error("it does not lie in memory")
        start = int(value.address) & ADDRESS
        self.word = int(value["word"]) & ~self.BUSY
        kind = gdb.lookup_type(f"weft::sync::{body}<{', '.join((self.WHO, self.ORDERS)[:parameters])}>")
        self.body = gdb.Value((start + 4 + 7) & ~7).cast(kind.pointer()).dereference()

    def waiters(self, *rings):
        count = sum(self.length(self.body[ring]) for ring in rings or ("ring",))
        more = "at least " if count >= self.MOST_WAITERS else ""
        return f", {more}{many(count, 'waits', 'wait')}" if count else ""

    @classmethod
    def length(cls, ring):
        first = node = ring["first_"]
        count = 0
        while int(node) and count < cls.MOST_WAITERS:
            node, count = node["next"], count + 1
            if int(node) == int(first):
                break
        return count

    def holder(self):
        """The holder as text; the identity of a scheduler, or of an OS thread that is no stream, is no unit."""
        owner = number(self.body["owner"]) & ADDRESS & ~1  # one bit says that it has not run since it got the object
        unit = Shown.unit(owner)
        return unit if owner and unit else "a thread that is no unit"


class Shown:
    """For each type of the headers, the description of an object, to follow the type's name."""

    @staticmethod
    def unit(address):
        """The unit's name and state, or None if no unit lives at the address."""
        layout = Layout()
        try:
            memory = gdb.selected_inferior().read_memory(address & ADDRESS, layout.bytes).tobytes()
        except gdb.MemoryError:
            return None
        unit = Unit(layout, memory, 0, address & ADDRESS)
        runtime = global_value("weft::(anonymous namespace)::active")
        if not unit.id or unit.state in ("free", "?") or runtime is None or not int(load(runtime)):
            return None
        return f"{unit} ({unit.state})"

    @classmethod
    def of_unit(cls, value):
        address = int(unit_of(value))
        return f" of {cls.unit(address) or f'what is no unit any more: {address:#x}'}" if address else " of no unit"

    @staticmethod
    def unit_id(value):
        return f" {int(value['number_'])}" if int(value["number_"]) else " of no unit"

    @staticmethod
    def group(value):
        units = value["units_"]["_M_impl"]
        return " of " + many(int(units["_M_finish"] - units["_M_start"]), "unit", "units")

    @staticmethod
    def seen_as(value, kind):
        """What the handle points to, or None."""
        handle = int(value["handle_"])
        return gdb.Value(handle & ADDRESS).cast(gdb.lookup_type(kind).pointer()) if handle else None

    @classmethod
    def pool(cls, value):
        pool = cls.seen_as(value, "weft::Pool")
        return " of no pool" if pool is None else f" {StreamsCommand.pool(pool)}"

    @classmethod
    def stream(cls, value):
        stream = cls.seen_as(value, "weft::Stream")
        return " of no stream" if stream is None else f" of stream {int(stream['rank'])} '{stream['name'].string()}'"

    @classmethod
    def scheduler(cls, value):
        sched = cls.seen_as(value, "weft::Sched")
        if sched is None:
            return " of no scheduler"
        return f" {int(sched):#x} with {many(int(sched['count']), 'pool', 'pools')}"

    @staticmethod
    def mutex(value):
        mutex = Object(value, "MutexBody", 2)
        held = mutex.word & 2  # BasicMutex::held
        return (f" held by {mutex.holder()}" if held else " held by nobody") + mutex.waiters()

    @staticmethod
    def shared_mutex(value):
        lock, reading = Object(value, "RwLockBody"), 0x0FFFFFFF  # BasicRwLock::reading, ::writing
        holder = "nobody"
        if lock.word & reading + 1:
            holder = f"{lock.holder()} for writing"
        elif lock.word & reading:
            holder = many(lock.word & reading, "reader", "readers")
        return f" held by {holder}{lock.waiters('readers', 'writers')}"

    @staticmethod
    def condition(value):
        return Object(value, "ConditionBody", 2).waiters() or ", nobody waits"

    @staticmethod
    def event(value):
        event = Object(value, "EventBody", 2)
        return (", set" if event.word & 1 else ", not set") + event.waiters()

    @staticmethod
    def semaphore(value):
        semaphore = Object(value, "SemaphoreBody")
        return f" at {semaphore.word & 0x3FFFFFFF}{semaphore.waiters()}"  # BasicSemaphore::most

    @staticmethod
    def latch(value):
        latch = Object(value, "LatchBody")
        return f" at {latch.word}{latch.waiters()}"

    @staticmethod
    def barrier(value):
        barrier = Object(value, "BarrierBody")
        return f", {barrier.word} still to arrive, phase {number(barrier.body['phase'])}{barrier.waiters()}"

    @staticmethod
    def channel(value):
        kind = gdb.lookup_type(f"weft::sync::BasicChannel<{Object.WHO}, {Object.ORDERS}>")
        channel = gdb.Value(int(value["channel_"]) & ADDRESS).cast(kind.pointer())
        text = f" with {number(channel['count_'])} of {int(channel['elements_']['capacity'])}"
        if number(channel["word_"]["value_"]) & 1:  # BasicChannel::closed
            text += ", closed"
        for ring, one, several in (
            ("senders_", "sender waits", "senders wait"),
            ("receivers_", "receiver waits", "receivers wait"),
        ):
            if count := Object.length(channel[ring]):
                text += f", {many(count, one, several)}"
        return text


# The function that describes a type, by the type's name without template arguments; `of`: the
# member that it describes.
SHOWN = {
    **{
        f"weft::{name}": (Shown.of_unit, "") for name in ("thread", "tasklet", "join_handle", "unit_handle", "unit_ref")
    },
    "weft::unit_id": (Shown.unit_id, ""),
    "weft::thread_group": (Shown.group, ""),
    **{f"weft::{name}": (Shown.pool, "") for name in ("pool", "pool_ref", "user_pool")},
    **{f"weft::{name}": (Shown.stream, "") for name in ("stream", "stream_ref")},
    **{f"weft::{name}": (Shown.scheduler, "") for name in ("scheduler", "scheduler_ref")},
    "weft_mutex": (Shown.mutex, ""),
    "weft::mutex": (Shown.mutex, "mutex_"),
    "weft::recursive_mutex": (Shown.mutex, "mutex_"),
    "weft_rwlock": (Shown.shared_mutex, ""),
    "weft::shared_mutex": (Shown.shared_mutex, "lock_"),
    "weft_cond": (Shown.condition, ""),
    "weft::condition_variable": (Shown.condition, "cond_"),
    "weft_event": (Shown.event, ""),
    "weft::event": (Shown.event, "event_"),
    "weft_semaphore": (Shown.semaphore, ""),
    "weft::counting_semaphore": (Shown.semaphore, "semaphore_"),
    "weft_latch": (Shown.latch, ""),
    "weft::latch": (Shown.latch, "latch_"),
    "weft_barrier": (Shown.barrier, ""),
    "weft::barrier": (Shown.barrier, "barrier_"),
    "weft::channel": (Shown.channel, ""),
}


def is_handle(value):
    return SHOWN.get(short_name(value).split("<")[0], (None,))[0] == Shown.of_unit


def unit_of(value):
    """The weft_unit* of an object that refers to a unit."""
    return value["handle_" if short_name(value) == "weft::unit_ref" else "unit_"]


class Printer:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        name = short_name(self.value)
        words, member = SHOWN[name.split("<")[0]]
        try:
            return name + words(self.value[member] if member else self.value)
        except gdb.error as error:  # no debug information of the library, or memory that is not there
            return f"{name} (print/r shows more: {error})"


class Printers(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__("weft")

    def __call__(self, value):
        if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
        return Printer(value) if short_name(value).split("<")[0] in SHOWN else None


gdb.printing.register_pretty_printer(None, Printers(), replace=True)

for command in (WeftCommand, UnitsCommand, BacktraceCommand, StreamsCommand):
    command()
