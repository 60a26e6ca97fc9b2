/* Play a tape (tape.py) by a native library where there is no Python: play LIBRARY FOLDER */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t (*entry)(int64_t, int64_t, int64_t, int64_t);

static uint32_t crc32(const unsigned char *bytes, long count) {
    uint32_t crc = ~0u;
    while (count--) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

static char *read_file(const char *folder, const char *name, long *size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) exit(2);
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    char *bytes = aligned_alloc(64, (*size + 128) / 64 * 64);
    if (fread(bytes, 1, *size, file) != (size_t)*size) exit(2);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

int main(int count, char **words) {
    long size, places[1000], lengths[1000], watched = 0;
    if (count != 3) return 2;
    void *library = dlopen(words[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    char *data = read_file(words[2], "data", &size), *tape = read_file(words[2], "tape", &size);
    char *base = read_file(words[2], "image", &size), *rest = 0;
    int64_t code = 0;
    for (char *line = strtok_r(tape, "\n", &rest); line; line = strtok_r(0, "\n", &rest)) {
        char name[64] = "";
        long long n[4] = {0, 0, 0, 0};
        if (sscanf(line, "call %63s %lld %lld %lld %lld", name, n, n + 1, n + 2, n + 3) >= 2) {
            entry called = (entry)dlsym(library, name);
            if (!called) return 3;
            code = called((int64_t)(intptr_t)base + n[0], n[1], n[2], n[3]);
        } else if (sscanf(line, "move %lld", n) == 1) {
            *(int64_t *)(base + n[0]) += (int64_t)(intptr_t)base;
        } else if (sscanf(line, "watch %lld %lld", n, n + 1) == 2) {
            if (watched == 1000) return 4;
            places[watched] = n[0], lengths[watched++] = n[1];
        } else if (sscanf(line, "write %lld %lld %lld", n, n + 1, n + 2) == 3) {
            memcpy(base + n[0], data + n[1], n[2]);
        } else {
            printf("%lld", (long long)code);
            for (long i = 0; i < watched; i++) printf(" %08x", crc32((unsigned char *)base + places[i], lengths[i]));
            printf("\n");
        }
    }
    return 0;
}
