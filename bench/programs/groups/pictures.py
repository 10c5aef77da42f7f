# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GraphicsMagick and ImageMagick: one OpenMP region after another."""
from program import Place, Program, found

ONE_AFTER_THE_OTHER = (
    "One region after the other, each with enough work for all threads: nothing competes, and "
    "there is little to gain."
)


def picture(place: Place) -> str:
    from demo import picture as write

    write(place.folder / "in.ppm", *((300, 200) if place.small else (2400, 1600)))
    return "in.ppm"


def graphicsmagick(*operation: str):
    def command(place: Place) -> list:
        return [found("gm", "graphicsmagick"), "convert", picture(place), *operation, "out.ppm"]

    return command


def imagemagick(*operation: str):
    def command(place: Place) -> list:
        return [found("convert-im6.q16", "imagemagick"), picture(place), *operation, "out.ppm"]

    return command


PROGRAMS = [
    Program(
        "gm-blur",
        "GraphicsMagick: `gm convert -blur 0x3`",
        ONE_AFTER_THE_OTHER,
        graphicsmagick("-blur", "0x3"),
        written=("out.ppm",),
    ),
    Program(
        "gm-several",
        "GraphicsMagick: rotate, equalize and resize",
        ONE_AFTER_THE_OTHER,
        graphicsmagick("-rotate", "17", "-equalize", "-resize", "50%"),
        written=("out.ppm",),
    ),
    Program(
        "im-blur",
        "ImageMagick: blur and resize",
        ONE_AFTER_THE_OTHER,
        imagemagick("-blur", "0x1", "-resize", "50%"),
        written=("out.ppm",),
    ),
]
