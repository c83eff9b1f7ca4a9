/* SPDX-License-Identifier: Apache-2.0 */
/* How long reading a netlist takes, and how much memory for its size. usage: netlist_read FILE */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/os.h"
#include "netlist/netlist.h"

static double user_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    struct stat info;
    struct rusage usage;
    ls_error error;
    double best = 0;
    if (argc < 2 || stat(argv[1], &info) != 0)
        return 2;
    for (int i = 0; i < 5; i++) {
        ls__netlist *netlist;
        ls__netlist_params params = {.path = argv[1]};
        uint64_t start = ls__os_now_ns();
        double user = user_seconds();
        if (ls__netlist_read(&params, &netlist, &error) != LS_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        double seconds = (double)(ls__os_now_ns() - start) * 1e-9;
        getrusage(RUSAGE_SELF, &usage);
        if (i == 0)
            printf("%u cells, %u registers, %.1f MB; peak memory %.2f of the file\n",
                   netlist->cell_count, netlist->register_count, (double)info.st_size * 1e-6,
                   (double)usage.ru_maxrss * 1024 / (double)info.st_size);
        printf("%.3f s, %.3f s of them user time\n", seconds, user_seconds() - user);
        if (i == 0 || seconds < best)
            best = seconds;
        ls__netlist_destroy(&netlist);
    }
    printf("best: %.3f s, %.0f MB/s\n", best, (double)info.st_size * 1e-6 / best);
    return 0;
}
