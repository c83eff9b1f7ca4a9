// SPDX-License-Identifier: Apache-2.0
//
// PicoRV32 with RAM that holds a program: one netlist that needs nothing but a clock and a reset. The
// program writes its results to `OUTPUT`, which makes them visible, and to `DONE` when it has ended.
`default_nettype none

module system (
    input  wire        clk,
    input  wire        resetn,
    output reg  [31:0] result,          // the last word written to OUTPUT
    output reg  [31:0] count,           // how many there were
    output reg         done,
    output wire        trap,
    output wire        mem_valid,
    output wire [31:0] mem_addr,
    output wire [31:0] mem_wdata,
    output wire [3:0]  mem_wstrb
);
    localparam WORDS = 4096;
    localparam [31:0] OUTPUT = 32'h10000000, DONE = 32'h10000004;

    wire        mem_instr;
    reg         mem_ready;
    reg  [31:0] mem_rdata;

    (* keep_memory *)
    reg [31:0] ram [0:WORDS - 1];

    initial
        $readmemh("program.hex", ram);

    wire        in_ram = mem_addr < 4 * WORDS;
    wire        start = mem_valid & ~mem_ready;
    wire [3:0]  mask = {4{start & in_ram}} & mem_wstrb;

    always @(posedge clk) begin : access
        integer i;

        for (i = 0; i < 4; i = i + 1)
            if (mask[i])
                ram[mem_addr[13:2]][8 * i +: 8] <= mem_wdata[8 * i +: 8];
        mem_rdata <= ram[mem_addr[13:2]];
    end

    always @(posedge clk)
        if (!resetn) begin
            mem_ready <= 1'b0;
            result <= 32'd0;
            count <= 32'd0;
            done <= 1'b0;
        end else begin
            mem_ready <= start;
            if (start && mem_wstrb == 4'b1111 && mem_addr == OUTPUT) begin
                result <= mem_wdata;
                count <= count + 32'd1;
            end
            if (start && mem_wstrb != 4'b0000 && mem_addr == DONE)
                done <= 1'b1;
        end

    picorv32 #(
        .COMPRESSED_ISA(1), .ENABLE_FAST_MUL(1), .ENABLE_DIV(1), .BARREL_SHIFTER(1),
        .REGS_INIT_ZERO(1)
    ) cpu (
        .clk(clk), .resetn(resetn), .trap(trap), .mem_valid(mem_valid), .mem_instr(mem_instr),
        .mem_ready(mem_ready), .mem_addr(mem_addr), .mem_wdata(mem_wdata), .mem_wstrb(mem_wstrb),
        .mem_rdata(mem_rdata),
        .mem_la_read(), .mem_la_write(), .mem_la_addr(), .mem_la_wdata(), .mem_la_wstrb(),
        .pcpi_valid(), .pcpi_insn(), .pcpi_rs1(), .pcpi_rs2(), .pcpi_wr(1'b0), .pcpi_rd(32'd0),
        .pcpi_wait(1'b0), .pcpi_ready(1'b0), .irq(32'd0), .eoi(), .trace_valid(), .trace_data());
endmodule
