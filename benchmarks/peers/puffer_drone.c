/* Steps a batch of one of PufferLib's C drone environments with pre-drawn random actions, inside one call.

   The environment resets itself within its step, as PufferLib runs it, so resets cannot be told apart from steps.
   Built with -DHEADER='"drone.h"' -DENV=Drone -DOBS=16 and, where the environment wants fields set before its init,
   -DSETUP='env->... = ...;'. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include HEADER

#ifndef SETUP
#define SETUP
#endif

enum { DRAWS = 4096, ROUND = 16 };
static ENV *envs;
static int count;
static float *actions, draws[DRAWS * 4];
static unsigned int cursor;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

void open_batch(int worlds, unsigned int seed) {
    srand(seed);
    count = worlds;
    envs = calloc(worlds, sizeof(ENV));
    actions = calloc(4 * worlds, sizeof(float));
    float *observations = calloc((size_t)OBS * worlds, sizeof(float)), *rewards = calloc(worlds, sizeof(float));
    unsigned char *terminals = calloc(worlds, 1);
    for (int i = 0; i < DRAWS * 4; i++) draws[i] = 2.0f * rand() / (float)RAND_MAX - 1.0f;
    for (int i = 0; i < worlds; i++) {
        ENV *env = &envs[i];
        env->observations = observations + (size_t)OBS * i;
        env->actions = actions + 4 * i;
        env->rewards = rewards + i;
        env->terminals = terminals + i;
        SETUP
        init(env);
        c_reset(env);
    }
}

/* Step for about `seconds`; returns the number of environment steps and writes the time they took. */
long run_batch(double seconds, double *taken) {
    long steps = 0;
    double start = now(), end;
    do {
        for (int k = 0; k < ROUND; k++)
            for (int i = 0; i < count; i++) {
                memcpy(envs[i].actions, draws + 4 * (cursor++ % DRAWS), 4 * sizeof(float));
                c_step(&envs[i]);
            }
        steps += (long)ROUND * count;
        end = now();
    } while (end - start < seconds);
    *taken = end - start;
    return steps;
}

/* Episodes ended so far. */
double ended(void) {
    double n = 0.0;
    for (int i = 0; i < count; i++) n += envs[i].log.n;
    return n;
}
