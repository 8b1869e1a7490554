/* A load generator for HTTP requests on persistent connections and for WebSocket text frames.
 *
 *   load PORT CONNECTIONS SECONDS WARMUP SCRIPT
 *
 * The script is a file of steps, each a line `NAME LENGTH\n` followed by that many bytes. `wire` is `http` or `ws`;
 * `open` is sent once on each connection (for ws, the HTTP upgrade); `request` is a text message that is answered,
 * `notify` one that is not (ws only, any number); `call` is sent repeatedly, one at a time on each connection;
 * `expect` must be in every answer to it. The output is one line of JSON.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, MOST_STEPS = 16, HEAD = 14, TEXT = 0x1, PING = 0x9, PONG = 0xA };

typedef struct { char name[8]; unsigned char *bytes; size_t size; } Step;
typedef struct { int fd, upgraded; size_t next; uint64_t sent_at; size_t filled; unsigned char in[BUFFER]; } Peer;

static Step steps[MOST_STEPS];
static size_t step_count;
static Step call, expect;
static int is_ws;
static uint32_t *took;
static size_t calls, room;
static uint64_t measure_from, measure_to;
static size_t wrong, closed, refused;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what) {
    fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "malformed");
    exit(2);
}

/* A masked frame. The mask is constant, because the cost for the server does not depend on it. */
static void frame(Step *step, int opcode) {
    static const unsigned char mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    unsigned char *framed = malloc(step->size + HEAD);
    size_t at = 0;
    if (framed == NULL) die("memory");
    framed[at++] = (unsigned char)(0x80 | opcode);
    if (step->size < 126) {
        framed[at++] = (unsigned char)(0x80 | step->size);
    } else {
        if (step->size > 0xFFFF) die("message too long");
        framed[at++] = 0x80 | 126;
        framed[at++] = (unsigned char)(step->size >> 8);
        framed[at++] = (unsigned char)step->size;
    }
    memcpy(framed + at, mask, 4);
    at += 4;
    for (size_t i = 0; i < step->size; i++) framed[at + i] = step->bytes[i] ^ mask[i % 4];
    step->bytes = framed;
    step->size += at;
}

static void read_script(const char *path) {
    FILE *file = fopen(path, "rb");
    Step step;
    if (file == NULL) die(path);
    while (fscanf(file, "%7s %zu", step.name, &step.size) == 2) {
        step.bytes = malloc(step.size + 1);
        if (step.bytes == NULL || fgetc(file) != '\n' || fread(step.bytes, 1, step.size, file) != step.size)
            die(path);
        if (strcmp(step.name, "wire") == 0) is_ws = step.size == 2;
        else if (strcmp(step.name, "expect") == 0) expect = step;
        else if (strcmp(step.name, "call") == 0) call = step;
        else if (step_count < MOST_STEPS) steps[step_count++] = step;
        else die("too many steps");
    }
    fclose(file);
    if (call.size == 0 || expect.size == 0) die(path);
    if (!is_ws) return;
    frame(&call, TEXT);
    for (size_t i = 0; i < step_count; i++)
        if (strcmp(steps[i].name, "open") != 0) frame(&steps[i], TEXT);
}

static void send_all(Peer *peer, const unsigned char *bytes, size_t size) {
    /* Requests are far smaller than a socket's buffer, and sent one at a time: a partial write is an error. */
    if (send(peer->fd, bytes, size, MSG_NOSIGNAL) != (ssize_t)size) closed++;
}

static void send_next(Peer *peer) {
    while (peer->next < step_count) {
        Step *step = &steps[peer->next++];
        send_all(peer, step->bytes, step->size);
        if (strcmp(step->name, "notify") != 0) return;
    }
    peer->sent_at = now();
    send_all(peer, call.bytes, call.size);
}

static void connect_peer(Peer *peer, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (peer->fd < 0 || connect(peer->fd, (struct sockaddr *)&address, sizeof address) < 0) die("connect");
    setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* The size of the HTTP response at the start of the buffer; 0 while it is incomplete. */
static size_t http_answer(Peer *peer, const char *status) {
    unsigned char *end = memmem(peer->in, peer->filled, "\r\n\r\n", 4);
    size_t head, length = 0;
    if (end == NULL) return 0;
    head = (size_t)(end - peer->in) + 4;
    end[3] = '\0'; /* terminates the head as a string; the body is found by its length */
    if (strncmp((char *)peer->in + 9, status, 3) != 0) refused++;
    char *field = strcasestr((char *)peer->in, "\r\ncontent-length:");
    if (field != NULL) length = strtoul(field + 17, NULL, 10);
    end[3] = '\n';
    return peer->filled >= head + length ? head + length : 0;
}

/* The same for a frame from the server. */
static size_t ws_frame(Peer *peer) {
    size_t head = 2, length;
    if (peer->filled < 2) return 0;
    length = peer->in[1] & 0x7F;
    if (length == 126) {
        if (peer->filled < 4) return 0;
        length = (size_t)peer->in[2] << 8 | peer->in[3];
        head = 4;
    } else if (length == 127) die("answer too long");
    return peer->filled >= head + length ? head + length : 0;
}

static void note_call(Peer *peer, size_t size) {
    uint64_t at = now();
    if (memmem(peer->in, size, expect.bytes, expect.size) == NULL) wrong++;
    if (at < measure_from || at >= measure_to) return;
    if (calls == room) {
        room = room ? room * 2 : 1 << 20;
        took = realloc(took, room * sizeof *took);
        if (took == NULL) die("memory");
    }
    uint64_t ns = at - peer->sent_at;
    took[calls++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/* Handle input. Answers alternate with requests, so each answer is followed by the next request. */
static void take(Peer *peer) {
    for (;;) {
        int opcode = peer->upgraded ? peer->in[0] & 0xF : TEXT;
        size_t size = peer->upgraded ? ws_frame(peer) : http_answer(peer, is_ws ? "101" : "200");
        if (size == 0) return;
        if (opcode == PING) {
            Step pong = {"pong", peer->in + 2, size - 2};
            frame(&pong, PONG);
            send_all(peer, pong.bytes, pong.size);
            free(pong.bytes);
        } else if (opcode != TEXT) {
            closed++;
            return;
        } else {
            if (peer->sent_at != 0) note_call(peer, size);
            peer->upgraded = is_ws;
            send_next(peer);
        }
        peer->filled -= size;
        memmove(peer->in, peer->in + size, peer->filled);
    }
}

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double percentile(double share) {
    return calls ? took[(size_t)((double)(calls - 1) * share)] / 1e3 : 0;
}

int main(int argc, char **argv) {
    if (argc != 6) die("usage: load PORT CONNECTIONS SECONDS WARMUP SCRIPT");
    int port = atoi(argv[1]), count = atoi(argv[2]);
    double seconds = atof(argv[3]), warmup = atof(argv[4]);
    read_script(argv[5]);
    Peer *peers = calloc((size_t)count, sizeof *peers);
    struct epoll_event *events = calloc((size_t)count, sizeof *events);
    int queue = epoll_create1(0);
    if (peers == NULL || events == NULL || queue < 0) die("start");
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &peers[i]};
        connect_peer(&peers[i], port);
        if (epoll_ctl(queue, EPOLL_CTL_ADD, peers[i].fd, &event) < 0) die("epoll");
    }
    measure_from = now() + (uint64_t)(warmup * 1e9);
    measure_to = measure_from + (uint64_t)(seconds * 1e9);
    for (int i = 0; i < count; i++) send_next(&peers[i]);
    while (now() < measure_to && !wrong && !closed && !refused) {
        int ready = epoll_wait(queue, events, count, 100);
        for (int i = 0; i < ready; i++) {
            Peer *peer = events[i].data.ptr;
            ssize_t got = recv(peer->fd, peer->in + peer->filled, BUFFER - peer->filled, MSG_DONTWAIT);
            if (got <= 0) {
                closed++;
                continue;
            }
            peer->filled += (size_t)got;
            take(peer);
        }
    }
    qsort(took, calls, sizeof *took, compare);
    printf("{\"calls\":%zu,\"seconds\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,"
           "\"wrong\":%zu,\"closed\":%zu,\"refused\":%zu}\n",
           calls, seconds, percentile(0.5), percentile(0.99), percentile(1.0), wrong, closed, refused);
    return 0;
}
