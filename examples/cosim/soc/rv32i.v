// SPDX-License-Identifier: Apache-2.0
//
// A small RV32I core. Two cycles an instruction, three for a load; one memory port for both
// instructions and data, whose read data arrives one cycle after the address. FENCE does nothing;
// ECALL, EBREAK, CSR accesses and unknown instructions stop the core and raise `stopped`.
//
//   FETCH    address = pc
//   EXECUTE  the instruction arrives; registers are read and written; a load or store gives its address
//   LOAD     the data of a load arrives
//
// Loads and stores must be aligned to their size; the low address bits are not checked.
`default_nettype none

module rv32i (
    input  wire        clk,
    input  wire        reset,           // synchronous; the core starts at address 0 when it ends
    output wire [31:0] address,
    output wire        read,            // in EXECUTE only: a load, not a fetch
    output wire [3:0]  write_mask,
    output wire [31:0] write_data,
    input  wire [31:0] read_data,
    output reg         stopped
);
    localparam [1:0] FETCH = 2'd0, EXECUTE = 2'd1, LOAD = 2'd2;

    reg [1:0]  state;
    reg [31:0] pc;

    // ---- decoding ----

    wire [31:0] instruction = read_data;
    wire [6:0]  opcode = instruction[6:0];
    wire [2:0]  kind = instruction[14:12];
    wire [4:0]  rs1 = instruction[19:15];
    wire [4:0]  rs2 = instruction[24:20];

    wire is_lui    = opcode == 7'b0110111;
    wire is_auipc  = opcode == 7'b0010111;
    wire is_jal    = opcode == 7'b1101111;
    wire is_jalr   = opcode == 7'b1100111;
    wire is_branch = opcode == 7'b1100011;
    wire is_load   = opcode == 7'b0000011;
    wire is_store  = opcode == 7'b0100011;
    wire is_imm    = opcode == 7'b0010011;
    wire is_reg    = opcode == 7'b0110011;
    wire is_fence  = opcode == 7'b0001111;
    wire is_known  = is_lui | is_auipc | is_jal | is_jalr | is_branch | is_load | is_store | is_imm
                   | is_reg | is_fence;

    wire [31:0] imm_i = {{20{instruction[31]}}, instruction[31:20]};
    wire [31:0] imm_s = {{20{instruction[31]}}, instruction[31:25], instruction[11:7]};
    wire [31:0] imm_b = {{19{instruction[31]}}, instruction[31], instruction[7], instruction[30:25],
                         instruction[11:8], 1'b0};
    wire [31:0] imm_u = {instruction[31:12], 12'd0};
    wire [31:0] imm_j = {{11{instruction[31]}}, instruction[31], instruction[19:12], instruction[20],
                         instruction[30:21], 1'b0};

    // ---- registers ----

    reg [31:0] registers [0:31];

    wire        write_register;
    wire [4:0]  rd;
    wire [31:0] result;
    wire [31:0] a = rs1 == 5'd0 ? 32'd0 : registers[rs1];
    wire [31:0] b = rs2 == 5'd0 ? 32'd0 : registers[rs2];

    always @(posedge clk)
        if (write_register)
            registers[rd] <= result;

    // ---- arithmetic ----

    wire [31:0] operand = is_reg ? b : imm_i;
    wire        subtract = is_reg & instruction[30];
    wire [31:0] sum = a + (subtract ? ~operand : operand) + {31'd0, subtract};

    // Branches compare registers, SLT and SLTI a register with the operand.
    wire [31:0] compared = is_branch ? b : operand;
    wire        equal = a == compared;
    wire        below_unsigned = a < compared;
    wire        below = a[31] == compared[31] ? below_unsigned : a[31];

    // One shifter to the right; a shift to the left reverses the word before and after.
    wire [31:0] reversed, unreversed, shifted;
    wire        left = kind == 3'b001;
    wire        fill = instruction[30] & a[31] & ~left;
    wire [32:0] shift_in = {fill, left ? reversed : a};
    wire [32:0] shift_out = $signed(shift_in) >>> operand[4:0];

    assign shifted = shift_out[31:0];

    genvar i;
    generate
        for (i = 0; i < 32; i = i + 1) begin : reverse
            assign reversed[i] = a[31 - i];
            assign unreversed[i] = shifted[31 - i];
        end
    endgenerate

    reg [31:0] computed;

    always @*
        case (kind)
            3'b000:  computed = sum;
            3'b001:  computed = unreversed;
            3'b010:  computed = {31'd0, below};
            3'b011:  computed = {31'd0, below_unsigned};
            3'b100:  computed = a ^ operand;
            3'b101:  computed = shifted;
            3'b110:  computed = a | operand;
            default: computed = a & operand;
        endcase

    // ---- control flow ----

    wire condition = kind[2] == 1'b0 ? equal : kind[1] ? below_unsigned : below;
    wire taken = is_branch & (condition ^ kind[0]);
    wire [31:0] pc_next = pc + 32'd4;
    wire [31:0] pc_target = pc + (is_jal ? imm_j : is_branch ? imm_b : imm_u);
    wire [31:0] data_address = a + (is_store ? imm_s : imm_i);

    // ---- memory ----

    reg [4:0] load_rd;
    reg [2:0] load_kind;
    reg [1:0] load_offset;

    wire [31:0] loaded_word = read_data >> {load_offset, 3'b000};
    wire [31:0] loaded =
        load_kind[1:0] == 2'b00 ? {{24{loaded_word[7] & ~load_kind[2]}}, loaded_word[7:0]} :
        load_kind[1:0] == 2'b01 ? {{16{loaded_word[15] & ~load_kind[2]}}, loaded_word[15:0]} :
        loaded_word;
    wire [3:0] store_bytes = kind[1:0] == 2'b00 ? 4'b0001 : kind[1:0] == 2'b01 ? 4'b0011 : 4'b1111;

    wire executing = state == EXECUTE && !stopped;

    assign address = executing && (is_load || is_store) ? data_address : pc;
    assign read = executing && is_load;
    assign write_mask = executing && is_store ? store_bytes << data_address[1:0] : 4'd0;
    assign write_data = kind[1:0] == 2'b00 ? {4{b[7:0]}} : kind[1:0] == 2'b01 ? {2{b[15:0]}} : b;

    // ---- the result ----

    wire gives_result = is_lui | is_auipc | is_jal | is_jalr | is_imm | is_reg;

    assign rd = state == LOAD ? load_rd : instruction[11:7];
    assign write_register = (state == LOAD || (executing && gives_result)) && rd != 5'd0;
    assign result =
        state == LOAD ? loaded :
        is_lui ? imm_u :
        is_auipc ? pc_target :
        is_jal | is_jalr ? pc_next :
        computed;

    always @(posedge clk)
        if (reset) begin
            state <= FETCH;
            pc <= 32'd0;
            stopped <= 1'b0;
            load_rd <= 5'd0;
            load_kind <= 3'd0;
            load_offset <= 2'd0;
        end else
            case (state)
                FETCH:
                    state <= EXECUTE;
                EXECUTE:
                    if (!stopped) begin
                        state <= is_load ? LOAD : FETCH;
                        pc <= is_jalr ? {data_address[31:1], 1'b0} :
                              is_jal | taken ? pc_target : pc_next;
                        load_rd <= instruction[11:7];
                        load_kind <= kind;
                        load_offset <= data_address[1:0];
                        if (!is_known) begin
                            stopped <= 1'b1;
                            state <= EXECUTE;
                        end
                    end
                default:
                    state <= FETCH;
            endcase
endmodule
