// A kernel that does the work of several launches, the parts, one after the other, in work-groups of one work-item.
//
// The work of a part is divided into tickets, and these among the work-groups: each takes its own first, then those
// that others have not taken. So a work-group mostly reads what it wrote before, in the caches of its core. A part
// begins when all tickets of the part before are done. However work-groups are scheduled, the wait ends: a ticket that
// is waited for was taken by a work-group that is running, and does not wait itself.
//
// counters: numbers LINE apart, each in a cache line of its own: tickets done, work-groups that have ended, then for
// each part and each work-group how many of its tickets are taken. All are 0 before a launch, and again after it.
#define LINE 16
#define DONE counters
#define ENDED (counters + LINE)
#define BEGIN                                          \
    global volatile int *taken = counters + 2 * LINE; \
    int total = 0;
// Run `function(…, numbers + at, first, last)` for all work-items of a part. numbers[at]: the number of its tickets;
// numbers[at + 1]: the work-items of a ticket; numbers[at + 2]: all its work-items.
#define PART(at, function, ...)                                                                          \
    {                                                                                                    \
        int ticket, owner = 0, worked = 0;                                                               \
        total += numbers[at];                                                                            \
        while (*DONE < total && (ticket = take(taken, numbers[at], &owner)) >= 0) {                      \
            const int first = ticket * numbers[at + 1];                                                  \
            function(__VA_ARGS__, numbers + at, first, min(first + numbers[at + 1], numbers[at + 2]));   \
            worked++;                                                                                    \
        }                                                                                                \
        wait(DONE, worked, total);                                                                       \
        taken += LINE * get_global_size(0);                                                              \
    }
#define END                                                    \
    if (atomic_inc(ENDED) == (int)get_global_size(0) - 1) {    \
        for (global volatile int *one = counters; one < taken; one += LINE) \
            *one = 0;                                          \
    }

// Return a ticket, -1 if all are taken. owner: how many work-groups after this one the one is whose tickets are taken.
static inline int take(global volatile int *taken, const int tickets, int *owner)
{
    const int groups = get_global_size(0);
    for (; *owner < groups; ++*owner) {
        const int group = (get_global_id(0) + *owner) % groups;
        const int begin = (long)tickets * group / groups, count = (long)tickets * (group + 1) / groups - begin;
        if (taken[LINE * group] < count) {
            const int ticket = atomic_inc(taken + LINE * group);
            if (ticket < count)
                return begin + ticket;
        }
    }
    return -1;
}

// Add to the tickets that are done, and wait until all of this part and those before it are.
static inline void wait(global volatile int *done, const int worked, const int total)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (worked)
        atomic_add(done, worked);
    while (*done < total) {
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
}
