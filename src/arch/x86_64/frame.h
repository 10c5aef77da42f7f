/* What a suspended context keeps on its own stack, lowest address first. Everything else a switch
 * preserves is kept by the compiler, which knows what is live (context.hpp). Read by switch.S and
 * by context.hpp. */
#define FRAME_RESUME 0 /* the address to jump to */
#define FRAME_RBP 8    /* the frame pointer; for a fresh context the main function */
#define FRAME_SIZE 16
