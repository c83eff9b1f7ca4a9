// SPDX-License-Identifier: Apache-2.0
//
// A JTAG test access port after IEEE 1149.1: the sixteen state controller, a four bit instruction
// register, IDCODE (chosen by reset), BYPASS, and one data register of 32 bits that can be read and
// written. TDO, the instruction and the data register change on falling edges of TCK.
//
//   instruction  register
//   0001         IDCODE, 32 bits, 0x1c0de001 (read only)
//   0010         DATA, 32 bits: captures `data`, which Update-DR replaces
//   others       BYPASS, 1 bit
`default_nettype none

module jtag (
    input  wire        tck,
    input  wire        tms,
    input  wire        tdi,
    input  wire        trst_n,
    output reg         tdo,
    output reg         tdo_enable,
    output reg  [31:0] data,
    output reg  [3:0]  instruction,
    output reg  [3:0]  state
);
    localparam [31:0] IDENTITY = 32'h1c0de001;
    localparam [3:0] IDCODE = 4'b0001, DATA = 4'b0010;
    localparam [3:0]
        TEST_LOGIC_RESET = 4'd0, RUN_TEST_IDLE = 4'd1,
        SELECT_DR = 4'd2, CAPTURE_DR = 4'd3, SHIFT_DR = 4'd4, EXIT1_DR = 4'd5, PAUSE_DR = 4'd6,
        EXIT2_DR = 4'd7, UPDATE_DR = 4'd8,
        SELECT_IR = 4'd9, CAPTURE_IR = 4'd10, SHIFT_IR = 4'd11, EXIT1_IR = 4'd12, PAUSE_IR = 4'd13,
        EXIT2_IR = 4'd14, UPDATE_IR = 4'd15;

    reg [31:0] shift;           // the data register that is being shifted
    reg [3:0]  shift_ir;

    wire bypassed = instruction != IDCODE && instruction != DATA;

    always @(posedge tck or negedge trst_n)
        if (!trst_n)
            state <= TEST_LOGIC_RESET;
        else
            case (state)
                TEST_LOGIC_RESET: state <= tms ? TEST_LOGIC_RESET : RUN_TEST_IDLE;
                RUN_TEST_IDLE:    state <= tms ? SELECT_DR : RUN_TEST_IDLE;
                SELECT_DR:        state <= tms ? SELECT_IR : CAPTURE_DR;
                CAPTURE_DR:       state <= tms ? EXIT1_DR : SHIFT_DR;
                SHIFT_DR:         state <= tms ? EXIT1_DR : SHIFT_DR;
                EXIT1_DR:         state <= tms ? UPDATE_DR : PAUSE_DR;
                PAUSE_DR:         state <= tms ? EXIT2_DR : PAUSE_DR;
                EXIT2_DR:         state <= tms ? UPDATE_DR : SHIFT_DR;
                UPDATE_DR:        state <= tms ? SELECT_DR : RUN_TEST_IDLE;
                SELECT_IR:        state <= tms ? TEST_LOGIC_RESET : CAPTURE_IR;
                CAPTURE_IR:       state <= tms ? EXIT1_IR : SHIFT_IR;
                SHIFT_IR:         state <= tms ? EXIT1_IR : SHIFT_IR;
                EXIT1_IR:         state <= tms ? UPDATE_IR : PAUSE_IR;
                PAUSE_IR:         state <= tms ? EXIT2_IR : PAUSE_IR;
                EXIT2_IR:         state <= tms ? UPDATE_IR : SHIFT_IR;
                default:          state <= tms ? SELECT_DR : RUN_TEST_IDLE;
            endcase

    always @(posedge tck or negedge trst_n)
        if (!trst_n) begin
            shift <= 32'd0;
            shift_ir <= 4'd0;
        end else
            case (state)
                CAPTURE_DR:
                    case (instruction)
                        IDCODE:  shift <= IDENTITY;
                        DATA:    shift <= data;
                        default: shift <= 32'd0;
                    endcase
                SHIFT_DR:
                    shift <= bypassed ? {31'd0, tdi} : {tdi, shift[31:1]};
                CAPTURE_IR:
                    shift_ir <= 4'b0101;
                SHIFT_IR:
                    shift_ir <= {tdi, shift_ir[3:1]};
                default:
                    ;
            endcase

    always @(negedge tck or negedge trst_n)
        if (!trst_n) begin
            instruction <= IDCODE;
            data <= 32'd0;
            tdo <= 1'b0;
            tdo_enable <= 1'b0;
        end else begin
            if (state == TEST_LOGIC_RESET)
                instruction <= IDCODE;
            else if (state == UPDATE_IR)
                instruction <= shift_ir;
            if (state == UPDATE_DR && instruction == DATA)
                data <= shift;
            tdo <= state == SHIFT_IR ? shift_ir[0] : shift[0];
            tdo_enable <= state == SHIFT_IR || state == SHIFT_DR;
        end
endmodule
