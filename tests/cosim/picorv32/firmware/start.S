# SPDX-License-Identifier: Apache-2.0
    .section .start, "ax"
    .globl _start
_start:
    la      sp, stack_top
    call    main
stop:
    j       stop
