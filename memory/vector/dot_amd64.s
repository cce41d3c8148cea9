#include "textflag.h"

// func dotAVX2(a *int16, b *int8, n int) int32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1

next:
	VPMOVSXBW (DI), Y2
	VPMOVSXBW 16(DI), Y3
	VPMADDWD  (SI), Y2, Y2
	VPMADDWD  32(SI), Y3, Y3
	VPADDD    Y2, Y0, Y0
	VPADDD    Y3, Y1, Y1
	ADDQ      $64, SI
	ADDQ      $32, DI
	SUBQ      $32, CX
	JNZ       next

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VZEROUPPER
	MOVD X0, AX
	MOVL AX, ret+24(FP)
	RET

// func prefetch(p unsafe.Pointer, n int)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX

line:
	PREFETCHT0 (SI)
	ADDQ       $64, SI
	SUBQ       $64, CX
	JG         line
	RET

// func tallyPOPCNT(signs *uint64, words int, of *uint64, rows *int32, to *tally, n int)
TEXT ·tallyPOPCNT(SB), NOSPLIT, $0-48
	MOVQ signs+0(FP), R13
	MOVQ words+8(FP), R12
	MOVQ of+16(FP), R15
	MOVQ rows+24(FP), SI
	MOVQ to+32(FP), DI
	MOVQ n+40(FP), CX
	SHLQ $3, R12

row:
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
	DECQ CX
	JNZ  row
	RET

// func tallyVPOPCNT(signs *uint64, words int, of *uint64, rows *int32, to *tally, n int)
TEXT ·tallyVPOPCNT(SB), NOSPLIT, $0-48
	MOVQ signs+0(FP), R13
	MOVQ words+8(FP), R12
	MOVQ of+16(FP), R15
	MOVQ rows+24(FP), SI
	MOVQ to+32(FP), DI
	MOVQ n+40(FP), CX
	SHLQ $3, R12

row:
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
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET
