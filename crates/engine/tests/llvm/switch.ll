; guard: function 0
define dso_local i32 @wf0(ptr addrspace(258) noundef align 8 dereferenceable(112) %context, i64 %v1, i32 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !16 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  %s0 = alloca [16 x i8], align 16
  br label %b0
b0:
  %v4 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !16)
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !16)
  %v5 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t2 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t3 = getelementptr i8, ptr addrspace(258) %t2, i64 128, !dbg !DILocation(line: 2, scope: !16)
  %v6 = load atomic i64, ptr addrspace(258) %t3 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t4 = inttoptr i64 %v6 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t5 = getelementptr i8, ptr addrspace(258) %t4, i64 48, !dbg !DILocation(line: 2, scope: !16)
  %v7 = load atomic i64, ptr addrspace(258) %t5 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t6 = inttoptr i64 %v7 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %v8 = load atomic i64, ptr addrspace(258) %t6 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t7 = icmp eq i64 %v8, %v5, !dbg !DILocation(line: 2, scope: !16)
  %v9 = zext i1 %t7 to i8, !dbg !DILocation(line: 2, scope: !16)
  %v11 = or i64 %v4, 1, !dbg !DILocation(line: 2, scope: !16)
  %t8 = icmp ne i8 %v9, 0, !dbg !DILocation(line: 2, scope: !16)
  br i1 %t8, label %e9, label %b2, !prof !6, !dbg !DILocation(line: 2, scope: !16)
b2:
  %t10 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 2, scope: !16)
  %v14 = load i64, ptr addrspace(258) %t10, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t11 = inttoptr i64 %v14 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t12 = getelementptr i8, ptr addrspace(258) %t11, i64 160, !dbg !DILocation(line: 2, scope: !16)
  %v15 = load i64, ptr addrspace(258) %t12, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t13 = inttoptr i64 %v15 to ptr, !dbg !DILocation(line: 2, scope: !16)
  %v16 = call i64 %t13(i64 %v0, i64 %v5) #1, !dbg !DILocation(line: 2, scope: !16)
  %t14 = icmp eq i64 %v16, 0, !dbg !DILocation(line: 2, scope: !16)
  br i1 %t14, label %x15, label %g15, !prof !1, !dbg !DILocation(line: 2, scope: !16)
x15:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !16)
  unreachable
g15:
  %t16 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t17 = getelementptr i8, ptr addrspace(258) %t16, i64 296, !dbg !DILocation(line: 2, scope: !16)
  %v17 = load atomic i64, ptr addrspace(258) %t17 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %v19 = add i64 %v17, 1, !dbg !DILocation(line: 2, scope: !16)
  %v21 = call i64 @llvm.umin.i64(i64 %v19, i64 62), !dbg !DILocation(line: 2, scope: !16)
  %v22 = or i64 %v4, %v21, !dbg !DILocation(line: 2, scope: !16)
  br label %e18, !dbg !DILocation(line: 2, scope: !16)
b3:
  %v12 = phi i64 [ %v6, %e9 ], [ %v16, %e18 ]
  %v13 = phi i64 [ %v11, %e9 ], [ %v22, %e18 ]
  %t19 = inttoptr i64 %v12 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t20 = getelementptr i8, ptr addrspace(258) %t19, i64 40, !dbg !DILocation(line: 2, scope: !16)
  %v23 = load atomic i64, ptr addrspace(258) %t20 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %v24 = trunc i64 %v23 to i32, !dbg !DILocation(line: 2, scope: !16)
  %t21 = icmp ne i32 %v24, -1, !dbg !DILocation(line: 2, scope: !16)
  %v26 = zext i1 %t21 to i8, !dbg !DILocation(line: 2, scope: !16)
  %t22 = icmp ne i8 %v26, 0, !dbg !DILocation(line: 2, scope: !16)
  br i1 %t22, label %e23, label %b4, !prof !6, !dbg !DILocation(line: 2, scope: !16)
b4:
  %t24 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 2, scope: !16)
  %v29 = load i64, ptr addrspace(258) %t24, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t25 = inttoptr i64 %v29 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t26 = getelementptr i8, ptr addrspace(258) %t25, i64 168, !dbg !DILocation(line: 2, scope: !16)
  %v30 = load i64, ptr addrspace(258) %t26, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t27 = inttoptr i64 %v30 to ptr, !dbg !DILocation(line: 2, scope: !16)
  %v31 = call i64 %t27(i64 %v0, i64 %v12) #1, !dbg !DILocation(line: 2, scope: !16)
  %t28 = icmp eq i64 %v31, 0, !dbg !DILocation(line: 2, scope: !16)
  br i1 %t28, label %x29, label %g29, !prof !1, !dbg !DILocation(line: 2, scope: !16)
x29:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !16)
  unreachable
g29:
  %t30 = inttoptr i64 %v31 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t31 = getelementptr i8, ptr addrspace(258) %t30, i64 40, !dbg !DILocation(line: 2, scope: !16)
  %v32 = load atomic i64, ptr addrspace(258) %t31 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  br label %e32, !dbg !DILocation(line: 2, scope: !16)
b5:
  %v27 = phi i64 [ %v12, %e23 ], [ %v31, %e32 ]
  %v28 = phi i64 [ %v23, %e23 ], [ %v32, %e32 ]
  %t33 = inttoptr i64 %v27 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t34 = getelementptr i8, ptr addrspace(258) %t33, i64 48, !dbg !DILocation(line: 2, scope: !16)
  %v33 = load atomic i64, ptr addrspace(258) %t34 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t35 = inttoptr i64 %v33 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t36 = getelementptr i8, ptr addrspace(258) %t35, i64 -16, !dbg !DILocation(line: 2, scope: !16)
  store volatile i32 %v2, ptr addrspace(258) %t36, align 4, !dbg !DILocation(line: 2, scope: !16)
  %t37 = inttoptr i64 %v33 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t38 = getelementptr i8, ptr addrspace(258) %t37, i64 -32, !dbg !DILocation(line: 2, scope: !16)
  store volatile i64 %v28, ptr addrspace(258) %t38, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t39 = getelementptr i8, ptr %s0, i64 0, !dbg !DILocation(line: 2, scope: !16)
  %v34 = ptrtoint ptr %t39 to i64, !dbg !DILocation(line: 2, scope: !16)
  %t40 = inttoptr i64 %v27 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t41 = getelementptr i8, ptr addrspace(258) %t40, i64 48, !dbg !DILocation(line: 2, scope: !16)
  store volatile i64 %v34, ptr addrspace(258) %t41, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t42 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t43 = getelementptr i8, ptr addrspace(258) %t42, i64 128, !dbg !DILocation(line: 2, scope: !16)
  %v37 = load atomic i64, ptr addrspace(258) %t43 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t44 = inttoptr i64 %v27 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t45 = getelementptr i8, ptr addrspace(258) %t44, i64 32, !dbg !DILocation(line: 2, scope: !16)
  %v38 = load atomic i64, ptr addrspace(258) %t45 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %v40 = add i64 %v4, 192, !dbg !DILocation(line: 2, scope: !16)
  %t46 = icmp eq i64 %v38, %v40, !dbg !DILocation(line: 2, scope: !16)
  %v41 = zext i1 %t46 to i8, !dbg !DILocation(line: 2, scope: !16)
  %t47 = icmp ne i8 %v41, 0, !dbg !DILocation(line: 2, scope: !16)
  br i1 %t47, label %e48, label %b6, !prof !6, !dbg !DILocation(line: 2, scope: !16)
b6:
  br label %e49, !dbg !DILocation(line: 2, scope: !16)
b7:
  %v42 = phi i64 [ %v40, %e48 ], [ %v38, %e49 ]
  %t50 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t51 = getelementptr i8, ptr addrspace(258) %t50, i64 128, !dbg !DILocation(line: 2, scope: !16)
  store volatile i64 %v42, ptr addrspace(258) %t51, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t52 = inttoptr i64 %v42 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t53 = getelementptr i8, ptr addrspace(258) %t52, i64 24, !dbg !DILocation(line: 2, scope: !16)
  %v44 = load atomic i64, ptr addrspace(258) %t53 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t54 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t55 = getelementptr i8, ptr addrspace(258) %t54, i64 288, !dbg !DILocation(line: 2, scope: !16)
  %v45 = load atomic i64, ptr addrspace(258) %t55 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %v46 = call i64 @llvm.umax.i64(i64 %v44, i64 %v45), !dbg !DILocation(line: 2, scope: !16)
  %t56 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  store volatile i64 %v46, ptr addrspace(258) %t56, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t57 = inttoptr i64 %v27 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t58 = getelementptr i8, ptr addrspace(258) %t57, i64 32, !dbg !DILocation(line: 2, scope: !16)
  store volatile i64 %v37, ptr addrspace(258) %t58, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t59 = call { i64, i64, i64 } asm sideeffect "leaq 1f(%rip), %rcx\0Amovq %rsp, %ss:(%rax)\0Amovq %rbp, %ss:8(%rax)\0Amovq %rcx, %ss:0x10(%rax)\0Amovq %ss:(%rdx), %rsp\0Amovq %ss:8(%rdx), %rbp\0Ajmpq *%ss:0x10(%rdx)\0A1:", "={rdi},={rax},={rdx},0,1,2,~{rcx},~{rbx},~{rsi},~{r8},~{r9},~{r10},~{r11},~{r12},~{r13},~{r14},~{r15},~{xmm0},~{xmm1},~{xmm2},~{xmm3},~{xmm4},~{xmm5},~{xmm6},~{xmm7},~{xmm8},~{xmm9},~{xmm10},~{xmm11},~{xmm12},~{xmm13},~{xmm14},~{xmm15},~{dirflag},~{fpsr},~{flags},~{memory}"(i64 %v13, i64 %v37, i64 %v42) #1, !dbg !DILocation(line: 2, scope: !16)
  %v47 = extractvalue { i64, i64, i64 } %t59, 0, !dbg !DILocation(line: 2, scope: !16)
  %v49 = and i64 %v47, 1, !dbg !DILocation(line: 2, scope: !16)
  %t60 = icmp ne i64 %v49, 0, !dbg !DILocation(line: 2, scope: !16)
  br i1 %t60, label %b8, label %b9, !prof !1, !dbg !DILocation(line: 2, scope: !16)
b8:
  %t61 = inttoptr i64 %v47 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t62 = getelementptr i8, ptr addrspace(258) %t61, i64 303, !dbg !DILocation(line: 2, scope: !16)
  %v50 = load atomic i64, ptr addrspace(258) %t62 unordered, align 8, !dbg !DILocation(line: 2, scope: !16)
  %t63 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 2, scope: !16)
  %v51 = load i64, ptr addrspace(258) %t63, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t64 = inttoptr i64 %v51 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !16)
  %t65 = getelementptr i8, ptr addrspace(258) %t64, i64 104, !dbg !DILocation(line: 2, scope: !16)
  %v52 = load i64, ptr addrspace(258) %t65, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t66 = inttoptr i64 %v52 to ptr, !dbg !DILocation(line: 2, scope: !16)
  call void %t66(i64 %v0, i64 %v50) #1, !dbg !DILocation(line: 2, scope: !16)
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 2\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !16)
  unreachable
b9:
  %t67 = getelementptr i8, ptr %s0, i64 0, !dbg !DILocation(line: 2, scope: !16)
  %v53 = load i32, ptr %t67, align 1, !dbg !DILocation(line: 2, scope: !16)
  ret i32 %v53, !dbg !DILocation(line: 3, scope: !16)
e9:
  br label %b3, !dbg !DILocation(line: 2, scope: !16)
e18:
  br label %b3, !dbg !DILocation(line: 2, scope: !16)
e23:
  br label %b5, !dbg !DILocation(line: 2, scope: !16)
e32:
  br label %b5, !dbg !DILocation(line: 2, scope: !16)
e48:
  br label %b7, !dbg !DILocation(line: 2, scope: !16)
e49:
  br label %b7, !dbg !DILocation(line: 2, scope: !16)
}

; guard: function 1
define dso_local i32 @wf1(ptr addrspace(258) noundef align 8 dereferenceable(112) %context, i64 %v1, i32 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !17 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  %s0 = alloca [24 x i8], align 16
  br label %b0
b0:
  %v4 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !17)
  %v6 = add i64 %v0, 48, !dbg !DILocation(line: 2, scope: !17)
  %t1 = icmp eq i64 %v6, 0, !dbg !DILocation(line: 3, scope: !17)
  br i1 %t1, label %x2, label %g2, !prof !1, !dbg !DILocation(line: 3, scope: !17)
x2:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf1, 1, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 3, scope: !17)
  unreachable
g2:
  %v7 = ptrtoint ptr @ws1 to i64, !dbg !DILocation(line: 4, scope: !17)
  %t3 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 272, !dbg !DILocation(line: 4, scope: !17)
  %v9 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t5 = icmp ne i64 %v9, 0, !dbg !DILocation(line: 4, scope: !17)
  br i1 %t5, label %b3, label %b2, !prof !6, !dbg !DILocation(line: 4, scope: !17)
b2:
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 4, scope: !17)
  %v11 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !17)
  %t7 = inttoptr i64 %v11 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t8 = getelementptr i8, ptr addrspace(258) %t7, i64 152, !dbg !DILocation(line: 4, scope: !17)
  %v12 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !17)
  %t9 = inttoptr i64 %v12 to ptr, !dbg !DILocation(line: 4, scope: !17)
  %v13 = call i64 %t9(i64 %v0, i32 1) #1, !dbg !DILocation(line: 4, scope: !17)
  %t10 = icmp eq i64 %v13, 0, !dbg !DILocation(line: 4, scope: !17)
  br i1 %t10, label %x11, label %g11, !prof !1, !dbg !DILocation(line: 4, scope: !17)
x11:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf1, 1, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !17)
  unreachable
g11:
  br label %e12, !dbg !DILocation(line: 4, scope: !17)
b3:
  %t13 = inttoptr i64 %v9 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t14 = getelementptr i8, ptr addrspace(258) %t13, i64 32, !dbg !DILocation(line: 4, scope: !17)
  %v14 = load atomic i64, ptr addrspace(258) %t14 unordered, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t15 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t16 = getelementptr i8, ptr addrspace(258) %t15, i64 272, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 %v14, ptr addrspace(258) %t16, align 8, !dbg !DILocation(line: 4, scope: !17)
  br label %e17, !dbg !DILocation(line: 4, scope: !17)
b4:
  %v10 = phi i64 [ %v13, %e12 ], [ %v9, %e17 ]
  %t18 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t19 = getelementptr i8, ptr addrspace(258) %t18, i64 56, !dbg !DILocation(line: 4, scope: !17)
  %v15 = load atomic i64, ptr addrspace(258) %t19 unordered, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t20 = inttoptr i64 %v15 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t21 = getelementptr i8, ptr addrspace(258) %t20, i64 8, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 %v6, ptr addrspace(258) %t21, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t22 = inttoptr i64 %v15 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t23 = getelementptr i8, ptr addrspace(258) %t22, i64 16, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 %v0, ptr addrspace(258) %t23, align 8, !dbg !DILocation(line: 4, scope: !17)
  %v17 = add i64 %v15, -16, !dbg !DILocation(line: 4, scope: !17)
  %v19 = add i64 %v17, -8, !dbg !DILocation(line: 4, scope: !17)
  %t24 = inttoptr i64 %v17 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t25 = getelementptr i8, ptr addrspace(258) %t24, i64 -8, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 0, ptr addrspace(258) %t25, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t26 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 %v19, ptr addrspace(258) %t26, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t27 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t28 = getelementptr i8, ptr addrspace(258) %t27, i64 8, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 0, ptr addrspace(258) %t28, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t29 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t30 = getelementptr i8, ptr addrspace(258) %t29, i64 16, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 %v7, ptr addrspace(258) %t30, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t31 = inttoptr i64 %v15 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t32 = getelementptr i8, ptr addrspace(258) %t31, i64 -16, !dbg !DILocation(line: 4, scope: !17)
  store volatile i32 %v2, ptr addrspace(258) %t32, align 4, !dbg !DILocation(line: 4, scope: !17)
  %t33 = getelementptr i8, ptr %s0, i64 16, !dbg !DILocation(line: 4, scope: !17)
  %v22 = ptrtoint ptr %t33 to i64, !dbg !DILocation(line: 4, scope: !17)
  %t34 = getelementptr i8, ptr %s0, i64 16, !dbg !DILocation(line: 4, scope: !17)
  store i64 0, ptr %t34, align 1, !dbg !DILocation(line: 4, scope: !17)
  %t35 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t36 = getelementptr i8, ptr addrspace(258) %t35, i64 48, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 %v22, ptr addrspace(258) %t36, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t37 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t38 = getelementptr i8, ptr addrspace(258) %t37, i64 128, !dbg !DILocation(line: 4, scope: !17)
  %v24 = load atomic i64, ptr addrspace(258) %t38 unordered, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t39 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t40 = getelementptr i8, ptr addrspace(258) %t39, i64 32, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 %v24, ptr addrspace(258) %t40, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t41 = inttoptr i64 %v24 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t42 = getelementptr i8, ptr addrspace(258) %t41, i64 8, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 0, ptr addrspace(258) %t42, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t43 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t44 = getelementptr i8, ptr addrspace(258) %t43, i64 128, !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 %v10, ptr addrspace(258) %t44, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t45 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t46 = getelementptr i8, ptr addrspace(258) %t45, i64 24, !dbg !DILocation(line: 4, scope: !17)
  %v26 = load atomic i64, ptr addrspace(258) %t46 unordered, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t47 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t48 = getelementptr i8, ptr addrspace(258) %t47, i64 288, !dbg !DILocation(line: 4, scope: !17)
  %v27 = load atomic i64, ptr addrspace(258) %t48 unordered, align 8, !dbg !DILocation(line: 4, scope: !17)
  %v28 = call i64 @llvm.umax.i64(i64 %v26, i64 %v27), !dbg !DILocation(line: 4, scope: !17)
  %t49 = inttoptr i64 %v4 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  store volatile i64 %v28, ptr addrspace(258) %t49, align 8, !dbg !DILocation(line: 4, scope: !17)
  %t50 = call { i64, i64, i64 } asm sideeffect "leaq 1f(%rip), %rcx\0Amovq %rsp, %ss:(%rax)\0Amovq %rbp, %ss:8(%rax)\0Amovq %rcx, %ss:0x10(%rax)\0Amovq %ss:(%rdx), %rsp\0Amovq %ss:8(%rdx), %rbp\0Ajmpq *%ss:0x10(%rdx)\0A1:", "={rdi},={rax},={rdx},0,1,2,~{rcx},~{rbx},~{rsi},~{r8},~{r9},~{r10},~{r11},~{r12},~{r13},~{r14},~{r15},~{xmm0},~{xmm1},~{xmm2},~{xmm3},~{xmm4},~{xmm5},~{xmm6},~{xmm7},~{xmm8},~{xmm9},~{xmm10},~{xmm11},~{xmm12},~{xmm13},~{xmm14},~{xmm15},~{dirflag},~{fpsr},~{flags},~{memory}"(i64 %v4, i64 %v24, i64 %v10) #1, !dbg !DILocation(line: 4, scope: !17)
  %v29 = extractvalue { i64, i64, i64 } %t50, 0, !dbg !DILocation(line: 4, scope: !17)
  %v31 = and i64 %v29, -64, !dbg !DILocation(line: 4, scope: !17)
  %v33 = and i64 %v29, 63, !dbg !DILocation(line: 4, scope: !17)
  %t51 = icmp ne i64 %v33, 0, !dbg !DILocation(line: 4, scope: !17)
  br i1 %t51, label %b6, label %b5, !prof !1, !dbg !DILocation(line: 4, scope: !17)
b6:
  %t52 = getelementptr i8, ptr %s0, i64 0, !dbg !DILocation(line: 4, scope: !17)
  %v34 = load i64, ptr %t52, align 1, !dbg !DILocation(line: 4, scope: !17)
  %t53 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 4, scope: !17)
  %v35 = load i64, ptr addrspace(258) %t53, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !17)
  %t54 = inttoptr i64 %v35 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !17)
  %t55 = getelementptr i8, ptr addrspace(258) %t54, i64 104, !dbg !DILocation(line: 4, scope: !17)
  %v36 = load i64, ptr addrspace(258) %t55, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !17)
  %t56 = inttoptr i64 %v36 to ptr, !dbg !DILocation(line: 4, scope: !17)
  call void %t56(i64 %v0, i64 %v34) #1, !dbg !DILocation(line: 4, scope: !17)
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf1, 1, 2\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !17)
  unreachable
b5:
  %t57 = getelementptr i8, ptr %s0, i64 0, !dbg !DILocation(line: 4, scope: !17)
  %v37 = load i32, ptr %t57, align 1, !dbg !DILocation(line: 4, scope: !17)
  ret i32 %v37, !dbg !DILocation(line: 5, scope: !17)
e12:
  br label %b4, !dbg !DILocation(line: 4, scope: !17)
e17:
  br label %b4, !dbg !DILocation(line: 4, scope: !17)
}

