/* Time in cycles of SysTick's clock, which counts down from one interrupt to the next. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

#define SYST_CSR (*(volatile uint32_t *)0xe000e010)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018)
#define ICSR (*(volatile uint32_t *)0xe000ed04)

static volatile uint32_t clock_ticks;

/* Starts it; the interrupt comes after each so many cycles if it is wanted. */
static inline void clock_start(uint32_t cycles, int with_interrupt) {
    SYST_RVR = cycles - 1;
    SYST_CVR = 0;
    SYST_CSR = with_interrupt ? 7 : 5;
}

/* The time; interrupts are blocked. */
static inline uint64_t clock_now(void) {
    uint32_t ticks = clock_ticks, left = SYST_CVR;
    if (ICSR & 1u << 26) {
        /* It has begun anew, and the interrupt waits. */
        ticks++;
        left = SYST_CVR;
    }
    /* The interrupt comes when 0 is reached: that is the first cycle of its period. */
    const uint32_t period = SYST_RVR + 1;
    return (uint64_t)ticks * period + (left == 0 ? 0 : period - left);
}

/* Blocks interrupts; returns what unblocks them. */
static inline uint32_t block(void) {
    uint32_t mask;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(mask)::"memory");
    return mask;
}

static inline void unblock(uint32_t mask) {
    __asm__ volatile("msr primask, %0" ::"r"(mask) : "memory");
}

#endif
