#include "host.h"

#include <string.h>

extern uint32_t data_start, data_end, data_load, bss_start, bss_end, stack_end, stack_start;

enum { OPEN = 1, CLOSE = 2, PRINT = 4, WRITE = 5, EXIT = 0x20 };
enum { PAINT = 0x5a5a5a5a };

static int host(int call, const void *arguments) {
    register int r0 __asm__("r0") = call;
    register const void *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void say(const char *text) {
    host(PRINT, text);
}

void say_number(const char *text, uint64_t number) {
    char digits[24], *at = digits + sizeof digits;
    *--at = '\0';
    *--at = '\n';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    say(text);
    say(at);
}

int write_file(const char *name, const void *data, size_t len) {
    const uintptr_t open[] = { (uintptr_t)name, 5, strlen(name) };
    const int file = host(OPEN, open);
    if (file < 0) {
        return 1;
    }
    const uintptr_t write[] = { (uintptr_t)file, (uintptr_t)data, len };
    const uintptr_t close[] = { (uintptr_t)file };
    const int left = host(WRITE, write);
    return host(CLOSE, close) != 0 || left != 0;
}

void leave(int status) {
    const uint32_t arguments[] = { 0x20026, (uint32_t)status };
    host(EXIT, arguments);
    for (;;) {
    }
}

__attribute__((weak)) void tick(void) {}

static void fault(void) {
    say("fault\n");
    leave(2);
}

/* Apart from `reset`, so that its stack begins where the paint does. */
static __attribute__((noinline)) void start(void) {
    uint32_t *from = &data_load;
    for (uint32_t *to = &data_start; to < &data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end;) {
        *to++ = 0;
    }
    const int status = run();
    const uint32_t *place = &stack_end;
    while (*place == PAINT) {
        place++;
    }
    say_number("peak stack: ", (uint64_t)((uintptr_t)&stack_start - (uintptr_t)place));
    leave(status);
}

void reset(void);

void reset(void) {
    /* The floating-point unit is on: code is compiled for it. */
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20;
    __asm__ volatile("dsb\n\tisb");
    uint32_t *here = (uint32_t *)__builtin_frame_address(0) - 16;
    for (uint32_t *place = &stack_end; place < here;) {
        *place++ = PAINT;
    }
    start();
}

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    { .stack = &stack_start }, { .handler = reset }, { .handler = fault }, { .handler = fault }, { .handler = fault },
    { .handler = fault },      { .handler = fault }, { 0 },                { 0 },                { 0 },
    { 0 },                     { .handler = fault }, { .handler = fault }, { 0 },                { .handler = fault },
    { .handler = tick },
};
