#include "go_asm.h"
#include "textflag.h"

// AHEAD puts into BX how many of the R11 codes of a row that are taken are fetched ahead.
#define AHEAD \
	MOVQ    R11, BX; \
	MOVQ    $const_fetched, AX; \
	CMPQ    BX, AX; \
	CMOVQGT AX, BX

// ROW asks for the lines of a row that comes soon, and goes to the row at hand: R8 are its
// codes, R9 their end, R10 the query's. Where it is no row, it goes to none.
#define ROW \
	CMPQ       R14, $const_ahead; \
	JLE        now; \
	MOVLQSX    (4*const_ahead)(SI), AX; \
	TESTQ      AX, AX; \
	JS         now; \
	IMULQ      R12, AX; \
	LEAQ       (R13)(AX*1), R8; \
	LEAQ       (R8)(BX*1), R9; \
line: \
	PREFETCHT0 (R8); \
	ADDQ       $64, R8; \
	CMPQ       R8, R9; \
	JB         line; \
now: \
	MOVLQSX    (SI), AX; \
	TESTQ      AX, AX; \
	JS         none; \
	IMULQ      R12, AX; \
	LEAQ       (R13)(AX*1), R8; \
	LEAQ       (R8)(R11*1), R9; \
	MOVQ       R15, R10

// FOLD adds up the eight sums of Y0, and writes the whole one to where DI points.
#define FOLD \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD       X1, X0, X0; \
	VPSHUFD      $0x4e, X0, X1; \
	VPADDD       X1, X0, X0; \
	VPSHUFD      $0xb1, X0, X1; \
	VPADDD       X1, X0, X0; \
	VMOVD        X0, (DI)

// func dotsAVX2(codes *int8, dim int, of *int16, rows *int32, n, left int, to *int32)
TEXT ·dotsAVX2(SB), NOSPLIT, $0-56
	MOVQ codes+0(FP), R13
	MOVQ dim+8(FP), R12
	MOVQ of+16(FP), R15
	MOVQ rows+24(FP), SI
	MOVQ n+32(FP), CX
	MOVQ left+40(FP), R14
	MOVQ to+48(FP), DI
	MOVQ R12, R11
	ANDQ $~31, R11 // the codes of a row that are taken
	AHEAD

row:
	ROW
	VPXOR   Y0, Y0, Y0
	VPXOR   Y1, Y1, Y1

next:
	VPMOVSXBW (R8), Y2
	VPMOVSXBW 16(R8), Y3
	VPMADDWD  (R10), Y2, Y2
	VPMADDWD  32(R10), Y3, Y3
	VPADDD    Y2, Y0, Y0
	VPADDD    Y3, Y1, Y1
	ADDQ      $64, R10
	ADDQ      $32, R8
	CMPQ      R8, R9
	JNE       next

	VPADDD       Y1, Y0, Y0
	FOLD

none:
	ADDQ $4, SI
	ADDQ $4, DI
	DECQ R14
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func dotsVNNI(codes *int8, dim int, of *int16, rows *int32, n, left int, to *int32)
TEXT ·dotsVNNI(SB), NOSPLIT, $0-56
	MOVQ codes+0(FP), R13
	MOVQ dim+8(FP), R12
	MOVQ of+16(FP), R15
	MOVQ rows+24(FP), SI
	MOVQ n+32(FP), CX
	MOVQ left+40(FP), R14
	MOVQ to+48(FP), DI
	MOVQ R12, R11
	ANDQ $~63, R11 // the codes of a row that are taken
	AHEAD

row:
	ROW
	VPXORQ  Z0, Z0, Z0
	VPXORQ  Z1, Z1, Z1

next:
	VPMOVSXBW (R8), Z2
	VPMOVSXBW 32(R8), Z3
	VPDPWSSD  (R10), Z2, Z0
	VPDPWSSD  64(R10), Z3, Z1
	ADDQ      $128, R10
	ADDQ      $64, R8
	CMPQ      R8, R9
	JNE       next

	VPADDD        Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD        Y1, Y0, Y0
	FOLD

none:
	ADDQ $4, SI
	ADDQ $4, DI
	DECQ R14
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func tallyPOPCNT(signs *uint64, words int, of *uint64, rows *int32, n, left int, to *tally)
TEXT ·tallyPOPCNT(SB), NOSPLIT, $0-56
	MOVQ signs+0(FP), R13
	MOVQ words+8(FP), R12
	MOVQ of+16(FP), R15
	MOVQ rows+24(FP), SI
	MOVQ n+32(FP), CX
	MOVQ left+40(FP), R14
	MOVQ to+48(FP), DI
	SHLQ $3, R12

row:
	// Ask for a row that comes soon.
	CMPQ       R14, $const_ahead
	JLE        now
	MOVLQSX    (4*const_ahead)(SI), AX
	TESTQ      AX, AX
	JS         now
	IMULQ      R12, AX
	PREFETCHT0 (R13)(AX*1)

now:
	MOVLQSX (SI), AX
	TESTQ   AX, AX
	JS      none
	IMULQ   R12, AX
	LEAQ    (R13)(AX*1), R8  // the words of the row
	LEAQ    (R8)(R12*1), R9  // their end
	MOVQ    R15, R10
	XORQ    AX, AX
	XORQ    BX, BX

word:
	POPCNTQ (R8), DX
	ADDQ    DX, AX
	MOVQ    (R8), R11
	ANDQ    24(R10), R11
	POPCNTQ R11, R11
	MOVQ    (R8), DX
	ANDQ    16(R10), DX
	POPCNTQ DX, DX
	LEAQ    (DX)(R11*2), R11
	MOVQ    (R8), DX
	ANDQ    8(R10), DX
	POPCNTQ DX, DX
	LEAQ    (DX)(R11*2), R11
	MOVQ    (R8), DX
	ANDQ    (R10), DX
	POPCNTQ DX, DX
	LEAQ    (DX)(R11*2), R11
	ADDQ    R11, BX
	ADDQ    $8, R8
	ADDQ    $32, R10
	CMPQ    R8, R9
	JNE     word

	MOVQ AX, (DI)
	MOVQ BX, 8(DI)

none:
	ADDQ $4, SI
	ADDQ $16, DI
	DECQ R14
	DECQ CX
	JNZ  row
	RET

// func tallyVPOPCNT(signs *uint64, words int, of *uint64, rows *int32, n, left int, to *tally)
TEXT ·tallyVPOPCNT(SB), NOSPLIT, $0-56
	MOVQ signs+0(FP), R13
	MOVQ words+8(FP), R12
	MOVQ of+16(FP), R15
	MOVQ rows+24(FP), SI
	MOVQ n+32(FP), CX
	MOVQ left+40(FP), R14
	MOVQ to+48(FP), DI
	SHLQ $3, R12

row:
	// Ask for a row that comes soon.
	CMPQ       R14, $const_ahead
	JLE        now
	MOVLQSX    (4*const_ahead)(SI), AX
	TESTQ      AX, AX
	JS         now
	IMULQ      R12, AX
	PREFETCHT0 (R13)(AX*1)

now:
	MOVLQSX (SI), AX
	TESTQ   AX, AX
	JS      none
	IMULQ   R12, AX
	LEAQ    (R13)(AX*1), R8  // the words of the row
	LEAQ    (R8)(R12*1), R9  // their end
	MOVQ    R15, R10
	VPXOR   Y0, Y0, Y0
	VPXOR   Y1, Y1, Y1

four:
	VMOVDQU  (R8), Y2
	VPOPCNTQ Y2, Y3
	VPADDQ   Y3, Y0, Y0
	VPAND    96(R10), Y2, Y3
	VPOPCNTQ Y3, Y3
	VPADDQ   Y3, Y3, Y3
	VPAND    64(R10), Y2, Y4
	VPOPCNTQ Y4, Y4
	VPADDQ   Y4, Y3, Y3
	VPADDQ   Y3, Y3, Y3
	VPAND    32(R10), Y2, Y4
	VPOPCNTQ Y4, Y4
	VPADDQ   Y4, Y3, Y3
	VPADDQ   Y3, Y3, Y3
	VPAND    (R10), Y2, Y4
	VPOPCNTQ Y4, Y4
	VPADDQ   Y4, Y3, Y3
	VPADDQ   Y3, Y1, Y1
	ADDQ     $32, R8
	ADDQ     $128, R10
	CMPQ     R8, R9
	JNE      four

	VPUNPCKLQDQ  Y1, Y0, Y2
	VPUNPCKHQDQ  Y1, Y0, Y3
	VPADDQ       Y3, Y2, Y2
	VEXTRACTI128 $1, Y2, X3
	VPADDQ       X3, X2, X2
	VMOVDQU      X2, (DI)

none:
	ADDQ $4, SI
	ADDQ $16, DI
	DECQ R14
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET
