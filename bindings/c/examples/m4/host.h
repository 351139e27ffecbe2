/* What the programs for the Cortex-M4 share: start, and talking to the host by semihosting. */
#ifndef HOST_H
#define HOST_H

#include <stddef.h>
#include <stdint.h>

/* Prints text. */
void say(const char *text);

/* Prints text and a number. */
void say_number(const char *text, uint64_t number);

/* Writes a file in the folder of the host's program. 0 if that went well. */
int write_file(const char *name, const void *data, size_t len);

/* Ends the program: 0 if all went well. */
_Noreturn void leave(int status);

/* The program: returns its status. */
int run(void);

/* What comes at each tick of SysTick. A program may have one of its own. */
void tick(void);

#endif
