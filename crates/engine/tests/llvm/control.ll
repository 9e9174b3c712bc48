; guard: function 0
define dso_local i32 @wf0(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !16 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = icmp eq i32 %v3, 0, !dbg !DILocation(line: 1, scope: !16)
  br i1 %t1, label %x2, label %g2, !prof !1, !dbg !DILocation(line: 1, scope: !16)
x2:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !16)
  unreachable
g2:
  %t3 = icmp eq i32 %v3, -1, !dbg !DILocation(line: 1, scope: !16)
  %t4 = icmp eq i32 %v2, -2147483648, !dbg !DILocation(line: 1, scope: !16)
  %t5 = and i1 %t3, %t4, !dbg !DILocation(line: 1, scope: !16)
  br i1 %t5, label %x6, label %g6, !prof !1, !dbg !DILocation(line: 1, scope: !16)
x6:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !16)
  unreachable
g6:
  %v5 = sdiv i32 %v2, %v3, !dbg !DILocation(line: 1, scope: !16)
  ret i32 %v5, !dbg !DILocation(line: 2, scope: !16)
}

; guard: function 1
define dso_local i32 @wf1(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i32 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !17 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  br label %e1, !dbg !DILocation(line: 2, scope: !17)
b2:
  %v6 = phi i32 [ 0, %e1 ], [ %v10, %e5 ]
  %v7 = phi i32 [ %v2, %e1 ], [ %v12, %e5 ]
  %t2 = icmp ne i32 0, 0, !dbg !DILocation(line: 2, scope: !17)
  br i1 %t2, label %x3, label %g3, !prof !1, !dbg !DILocation(line: 2, scope: !17)
x3:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf1, 1, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !17)
  unreachable
g3:
  %v9 = call i32 @wc0(i64 %v0, i64 %v0, i32 %v7, i32 3) #1, !dbg !DILocation(line: 4, scope: !17)
  %v10 = add i32 %v6, %v9, !dbg !DILocation(line: 5, scope: !17)
  %v12 = sub i32 %v7, 1, !dbg !DILocation(line: 7, scope: !17)
  %t4 = icmp ne i32 %v12, 0, !dbg !DILocation(line: 8, scope: !17)
  br i1 %t4, label %e5, label %b3, !dbg !DILocation(line: 8, scope: !17)
b3:
  ret i32 %v10, !dbg !DILocation(line: 9, scope: !17)
e1:
  br label %b2, !dbg !DILocation(line: 2, scope: !17)
e5:
  br label %b2, !dbg !DILocation(line: 8, scope: !17)
}

; guard: function 2
define dso_local i32 @wf2(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i32 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !18 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = call i32 asm "cmpl $2, $0\0Acmoval $2, $0", "=&r,0,r,~{flags}"(i32 %v2, i32 2) #3, !dbg !DILocation(line: 1, scope: !18)
  switch i32 %t1, label %n2 [ i32 0, label %b4 i32 1, label %b3 i32 2, label %b2 ], !dbg !DILocation(line: 1, scope: !18)
b4:
  ret i32 5, !dbg !DILocation(line: 3, scope: !18)
b3:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 4, scope: !18)
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf2, 2, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !18)
  unreachable
b2:
  ret i32 6, !dbg !DILocation(line: 6, scope: !18)
n2:
  unreachable
}

; guard: function 3
define dso_local i32 @wf3(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i32 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !19 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !19)
  %v5 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !19)
  %t2 = inttoptr i64 %v5 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !19)
  %t3 = getelementptr i8, ptr addrspace(258) %t2, i64 8, !dbg !DILocation(line: 2, scope: !19)
  %v6 = load atomic i32, ptr addrspace(258) %t3 unordered, align 4, !dbg !DILocation(line: 2, scope: !19)
  %t4 = icmp uge i32 %v2, %v6, !dbg !DILocation(line: 2, scope: !19)
  %v7 = zext i1 %t4 to i8, !dbg !DILocation(line: 2, scope: !19)
  %t5 = icmp ne i8 %v7, 0, !dbg !DILocation(line: 2, scope: !19)
  br i1 %t5, label %x6, label %g6, !prof !1, !dbg !DILocation(line: 2, scope: !19)
x6:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf3, 3, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !19)
  unreachable
g6:
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !19)
  %v8 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !19)
  %t8 = inttoptr i64 %v8 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !19)
  %v9 = load atomic i64, ptr addrspace(258) %t8 unordered, align 8, !dbg !DILocation(line: 2, scope: !19)
  %v10 = zext i32 %v2 to i64, !dbg !DILocation(line: 2, scope: !19)
  %v12 = shl i64 %v10, 3, !dbg !DILocation(line: 2, scope: !19)
  %v13 = add i64 %v9, %v12, !dbg !DILocation(line: 2, scope: !19)
  %v15 = call i64 asm "cmpl $2, $1\0Acmovaeq $3, $0", "=&r,r,re,r,0,~{flags}"(i32 %v2, i32 %v6, i64 0, i64 %v13) #3, !dbg !DILocation(line: 2, scope: !19)
  %t9 = inttoptr i64 %v15 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !19)
  %v16 = load atomic i64, ptr addrspace(258) %t9 unordered, align 8, !dbg !DILocation(line: 2, scope: !19)
  %t10 = inttoptr i64 %v16 to ptr, !dbg !DILocation(line: 2, scope: !19)
  %t11 = getelementptr i8, ptr %t10, i64 16, !dbg !DILocation(line: 2, scope: !19)
  %v17 = load volatile i32, ptr %t11, align 4, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 2, scope: !19)
  %t12 = getelementptr i8, ptr addrspace(258) %context, i64 16, !dbg !DILocation(line: 2, scope: !19)
  %v18 = load i64, ptr addrspace(258) %t12, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !19)
  %t13 = inttoptr i64 %v18 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !19)
  %v19 = load i32, ptr addrspace(258) %t13, align 4, !invariant.load !0, !dbg !DILocation(line: 2, scope: !19)
  %t14 = icmp ne i32 %v17, %v19, !dbg !DILocation(line: 2, scope: !19)
  %v20 = zext i1 %t14 to i8, !dbg !DILocation(line: 2, scope: !19)
  %t15 = icmp ne i8 %v20, 0, !dbg !DILocation(line: 2, scope: !19)
  br i1 %t15, label %x16, label %g16, !prof !1, !dbg !DILocation(line: 2, scope: !19)
x16:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf3, 3, 2\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !19)
  unreachable
g16:
  %t17 = inttoptr i64 %v16 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !19)
  %v21 = load volatile i64, ptr addrspace(258) %t17, align 8, !dbg !DILocation(line: 2, scope: !19)
  %t18 = inttoptr i64 %v16 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !19)
  %t19 = getelementptr i8, ptr addrspace(258) %t18, i64 8, !dbg !DILocation(line: 2, scope: !19)
  %v22 = load volatile i64, ptr addrspace(258) %t19, align 8, !dbg !DILocation(line: 2, scope: !19)
  %v24 = call i64 asm "cmpl $2, $1\0Acmovneq $3, $0", "=&r,r,re,r,0,~{flags}"(i32 %v17, i32 %v19, i64 0, i64 %v21) #3, !dbg !DILocation(line: 2, scope: !19)
  %t20 = inttoptr i64 %v24 to ptr, !dbg !DILocation(line: 2, scope: !19)
  %v25 = call i32 %t20(i64 %v22, i64 %v0, i32 9) #1, !dbg !DILocation(line: 2, scope: !19)
  ret i32 %v25, !dbg !DILocation(line: 3, scope: !19)
}

; guard: function 4
define dso_local { i32, i64, i64, double } @wf4(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i32 %v2, i64 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !20 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %v7 = bitcast i64 4611686018427387904 to double, !dbg !DILocation(line: 1, scope: !20)
  %t1 = insertvalue { i32, i64, i64, double } poison, i32 %v2, 0, !dbg !DILocation(line: 2, scope: !20)
  %t2 = insertvalue { i32, i64, i64, double } %t1, i64 %v3, 2, !dbg !DILocation(line: 2, scope: !20)
  %t3 = insertvalue { i32, i64, i64, double } %t2, double %v7, 3, !dbg !DILocation(line: 2, scope: !20)
  ret { i32, i64, i64, double } %t3, !dbg !DILocation(line: 2, scope: !20)
}

