# SPDX-License-Identifier: Apache-2.0
#
# Where the core starts: the stack at the end of RAM, .bss cleared, then main, and a stop if it returns.

    .section .start, "ax"
    .globl _start
_start:
    la      sp, stack_top
    la      a0, bss_start
    la      a1, bss_end
clear:
    bgeu    a0, a1, run
    sw      zero, 0(a0)
    addi    a0, a0, 4
    j       clear
run:
    call    main
    ebreak
