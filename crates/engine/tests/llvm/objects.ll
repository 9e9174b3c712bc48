; guard: function 1
define dso_local void @wf1(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i64 %v2, i64 %v3, i64 %v4) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !17 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  %roots = alloca [1 x i64], align 8
  br label %b0
b0:
  %t1 = icmp eq i64 %v3, 0, !dbg !DILocation(line: 1, scope: !17)
  br i1 %t1, label %x2, label %g2, !prof !1, !dbg !DILocation(line: 1, scope: !17)
x2:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf1, 1, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !17)
  unreachable
g2:
  %v5 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !17)
  %t3 = inttoptr i64 %v5 to ptr addrspace(258), !dbg !DILocation(line: 1, scope: !17)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 896, !dbg !DILocation(line: 1, scope: !17)
  %v6 = load i64, ptr addrspace(258) %t4, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !17)
  %v7 = trunc i64 %v3 to i32, !dbg !DILocation(line: 1, scope: !17)
  %v8 = zext i32 %v7 to i64, !dbg !DILocation(line: 1, scope: !17)
  %v9 = add i64 %v6, %v8, !dbg !DILocation(line: 1, scope: !17)
  %t5 = inttoptr i64 %v6 to ptr addrspace(258), !dbg !DILocation(line: 1, scope: !17)
  %t6 = getelementptr i8, ptr addrspace(258) %t5, i64 %v8, !dbg !DILocation(line: 1, scope: !17)
  %t7 = getelementptr i8, ptr addrspace(258) %t6, i64 8, !dbg !DILocation(line: 1, scope: !17)
  store volatile i64 %v4, ptr addrspace(258) %t7, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 1, scope: !17)
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !17)
  %v10 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !17)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !17)
  %v11 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !17)
  %t10 = getelementptr i8, ptr %roots, i64 0, !dbg !DILocation(line: 2, scope: !17)
  store volatile i64 %v2, ptr %t10, align 8, !dbg !DILocation(line: 2, scope: !17)
  %t11 = inttoptr i64 %v10 to ptr, !dbg !DILocation(line: 2, scope: !17)
  call void %t11(i64 %v11, i64 %v0) #1, !dbg !DILocation(line: 2, scope: !17)
  %t12 = icmp eq i64 %v2, 0, !dbg !DILocation(line: 3, scope: !17)
  br i1 %t12, label %x13, label %g13, !prof !1, !dbg !DILocation(line: 3, scope: !17)
x13:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf1, 1, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 3, scope: !17)
  unreachable
g13:
  %v12 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !17)
  %t14 = inttoptr i64 %v12 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !17)
  %t15 = getelementptr i8, ptr addrspace(258) %t14, i64 896, !dbg !DILocation(line: 3, scope: !17)
  %v13 = load i64, ptr addrspace(258) %t15, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !17)
  %v14 = trunc i64 %v2 to i32, !dbg !DILocation(line: 3, scope: !17)
  %v15 = zext i32 %v14 to i64, !dbg !DILocation(line: 3, scope: !17)
  %v16 = add i64 %v13, %v15, !dbg !DILocation(line: 3, scope: !17)
  %t16 = inttoptr i64 %v13 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !17)
  %t17 = getelementptr i8, ptr addrspace(258) %t16, i64 %v15, !dbg !DILocation(line: 3, scope: !17)
  %t18 = getelementptr i8, ptr addrspace(258) %t17, i64 8, !dbg !DILocation(line: 3, scope: !17)
  store volatile i64 %v4, ptr addrspace(258) %t18, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 3, scope: !17)
  ret void, !dbg !DILocation(line: 4, scope: !17)
}

; guard: function 2
define dso_local void @wf2(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i64 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !18 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  %roots = alloca [1 x i64], align 8
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !18)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !18)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !18)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !18)
  %t3 = getelementptr i8, ptr %roots, i64 0, !dbg !DILocation(line: 2, scope: !18)
  store volatile i64 %v2, ptr %t3, align 8, !dbg !DILocation(line: 2, scope: !18)
  %t4 = inttoptr i64 %v4 to ptr, !dbg !DILocation(line: 2, scope: !18)
  call void %t4(i64 %v5, i64 %v0) #1, !dbg !DILocation(line: 2, scope: !18)
  br label %e5, !dbg !DILocation(line: 3, scope: !18)
b2:
  %v7 = phi i64 [ %v2, %e5 ], [ %v13, %e23 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 3, scope: !18)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 3, scope: !18)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf2, 2, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 3, scope: !18)
  unreachable
g7:
  %t8 = icmp eq i64 %v7, 0, !dbg !DILocation(line: 4, scope: !18)
  br i1 %t8, label %x9, label %g9, !prof !1, !dbg !DILocation(line: 4, scope: !18)
x9:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf2, 2, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !18)
  unreachable
g9:
  %v8 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !18)
  %t10 = inttoptr i64 %v8 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !18)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 896, !dbg !DILocation(line: 4, scope: !18)
  %v9 = load i64, ptr addrspace(258) %t11, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !18)
  %v10 = trunc i64 %v7 to i32, !dbg !DILocation(line: 4, scope: !18)
  %v11 = zext i32 %v10 to i64, !dbg !DILocation(line: 4, scope: !18)
  %v12 = add i64 %v9, %v11, !dbg !DILocation(line: 4, scope: !18)
  %t12 = inttoptr i64 %v9 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !18)
  %t13 = getelementptr i8, ptr addrspace(258) %t12, i64 %v11, !dbg !DILocation(line: 4, scope: !18)
  %t14 = getelementptr i8, ptr addrspace(258) %t13, i64 16, !dbg !DILocation(line: 4, scope: !18)
  %t15 = load i32, ptr addrspace(258) %t14, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 4, scope: !18)
  %v13 = zext i32 %t15 to i64, !dbg !DILocation(line: 4, scope: !18)
  %t16 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 5, scope: !18)
  %v14 = load i64, ptr addrspace(258) %t16, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !18)
  %t17 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 5, scope: !18)
  %v15 = load i64, ptr addrspace(258) %t17, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !18)
  %t18 = getelementptr i8, ptr %roots, i64 0, !dbg !DILocation(line: 5, scope: !18)
  store volatile i64 %v13, ptr %t18, align 8, !dbg !DILocation(line: 5, scope: !18)
  %t19 = inttoptr i64 %v14 to ptr, !dbg !DILocation(line: 5, scope: !18)
  call void %t19(i64 %v15, i64 %v0) #1, !dbg !DILocation(line: 5, scope: !18)
  %t20 = icmp eq i64 %v13, 0, !dbg !DILocation(line: 6, scope: !18)
  %v17 = zext i1 %t20 to i8, !dbg !DILocation(line: 6, scope: !18)
  %t21 = icmp eq i8 %v17, 0, !dbg !DILocation(line: 7, scope: !18)
  %v19 = zext i1 %t21 to i8, !dbg !DILocation(line: 7, scope: !18)
  %t22 = icmp ne i8 %v19, 0, !dbg !DILocation(line: 8, scope: !18)
  br i1 %t22, label %e23, label %b3, !dbg !DILocation(line: 8, scope: !18)
b3:
  ret void, !dbg !DILocation(line: 9, scope: !18)
e5:
  br label %b2, !dbg !DILocation(line: 3, scope: !18)
e23:
  br label %b2, !dbg !DILocation(line: 8, scope: !18)
}

; guard: function 3
define dso_local i64 @wf3(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i64 %v2, i64 %v3, i32 %v4) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !19 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  %roots = alloca [2 x i64], align 8
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !19)
  %v6 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !19)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !19)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !19)
  %t3 = getelementptr i8, ptr %roots, i64 0, !dbg !DILocation(line: 1, scope: !19)
  store volatile i64 %v2, ptr %t3, align 8, !dbg !DILocation(line: 1, scope: !19)
  %t4 = getelementptr i8, ptr %roots, i64 8, !dbg !DILocation(line: 1, scope: !19)
  store volatile i64 %v3, ptr %t4, align 8, !dbg !DILocation(line: 1, scope: !19)
  %t5 = inttoptr i64 %v6 to ptr, !dbg !DILocation(line: 1, scope: !19)
  call void %t5(i64 %v7, i64 %v0) #1, !dbg !DILocation(line: 1, scope: !19)
  %t6 = icmp ne i32 %v4, 0, !dbg !DILocation(line: 2, scope: !19)
  %v8 = select i1 %t6, i64 %v2, i64 %v3, !dbg !DILocation(line: 2, scope: !19)
  %t7 = icmp eq i64 %v8, 0, !dbg !DILocation(line: 3, scope: !19)
  br i1 %t7, label %x8, label %g8, !prof !1, !dbg !DILocation(line: 3, scope: !19)
x8:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf3, 3, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 3, scope: !19)
  unreachable
g8:
  %v9 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !19)
  %t9 = inttoptr i64 %v9 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !19)
  %t10 = getelementptr i8, ptr addrspace(258) %t9, i64 896, !dbg !DILocation(line: 3, scope: !19)
  %v10 = load i64, ptr addrspace(258) %t10, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !19)
  %v11 = trunc i64 %v8 to i32, !dbg !DILocation(line: 3, scope: !19)
  %v12 = zext i32 %v11 to i64, !dbg !DILocation(line: 3, scope: !19)
  %v13 = add i64 %v10, %v12, !dbg !DILocation(line: 3, scope: !19)
  %t11 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !19)
  %t12 = getelementptr i8, ptr addrspace(258) %t11, i64 %v12, !dbg !DILocation(line: 3, scope: !19)
  %t13 = getelementptr i8, ptr addrspace(258) %t12, i64 8, !dbg !DILocation(line: 3, scope: !19)
  %v14 = load i64, ptr addrspace(258) %t13, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 3, scope: !19)
  ret i64 %v14, !dbg !DILocation(line: 4, scope: !19)
}

; guard: function 4
define dso_local i64 @wf4(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i64 %v2, i64 %v3, i32 %v4) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !20 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  %roots = alloca [2 x i64], align 8
  br label %b0
b0:
  %t1 = icmp ne i32 %v4, 0, !dbg !DILocation(line: 2, scope: !20)
  %v7 = select i1 %t1, i64 %v2, i64 %v3, !dbg !DILocation(line: 2, scope: !20)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 3, scope: !20)
  %v8 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !20)
  %t3 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 3, scope: !20)
  %v9 = load i64, ptr addrspace(258) %t3, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !20)
  %t4 = getelementptr i8, ptr %roots, i64 0, !dbg !DILocation(line: 3, scope: !20)
  store volatile i64 %v2, ptr %t4, align 8, !dbg !DILocation(line: 3, scope: !20)
  %t5 = getelementptr i8, ptr %roots, i64 8, !dbg !DILocation(line: 3, scope: !20)
  store volatile i64 %v7, ptr %t5, align 8, !dbg !DILocation(line: 3, scope: !20)
  %t6 = inttoptr i64 %v8 to ptr, !dbg !DILocation(line: 3, scope: !20)
  call void %t6(i64 %v9, i64 %v0) #1, !dbg !DILocation(line: 3, scope: !20)
  %t7 = icmp eq i64 %v7, 0, !dbg !DILocation(line: 4, scope: !20)
  br i1 %t7, label %x8, label %g8, !prof !1, !dbg !DILocation(line: 4, scope: !20)
x8:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !20)
  unreachable
g8:
  %v10 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !20)
  %t9 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !20)
  %t10 = getelementptr i8, ptr addrspace(258) %t9, i64 896, !dbg !DILocation(line: 4, scope: !20)
  %v11 = load i64, ptr addrspace(258) %t10, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !20)
  %v12 = trunc i64 %v7 to i32, !dbg !DILocation(line: 4, scope: !20)
  %v13 = zext i32 %v12 to i64, !dbg !DILocation(line: 4, scope: !20)
  %v14 = add i64 %v11, %v13, !dbg !DILocation(line: 4, scope: !20)
  %t11 = inttoptr i64 %v11 to ptr addrspace(258), !dbg !DILocation(line: 4, scope: !20)
  %t12 = getelementptr i8, ptr addrspace(258) %t11, i64 %v13, !dbg !DILocation(line: 4, scope: !20)
  %t13 = getelementptr i8, ptr addrspace(258) %t12, i64 8, !dbg !DILocation(line: 4, scope: !20)
  %v15 = load i64, ptr addrspace(258) %t13, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 4, scope: !20)
  %t14 = icmp eq i64 %v2, 0, !dbg !DILocation(line: 5, scope: !20)
  br i1 %t14, label %x15, label %g15, !prof !1, !dbg !DILocation(line: 5, scope: !20)
x15:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 5, scope: !20)
  unreachable
g15:
  %v16 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !20)
  %t16 = inttoptr i64 %v16 to ptr addrspace(258), !dbg !DILocation(line: 5, scope: !20)
  %t17 = getelementptr i8, ptr addrspace(258) %t16, i64 896, !dbg !DILocation(line: 5, scope: !20)
  %v17 = load i64, ptr addrspace(258) %t17, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !20)
  %v18 = trunc i64 %v2 to i32, !dbg !DILocation(line: 5, scope: !20)
  %v19 = zext i32 %v18 to i64, !dbg !DILocation(line: 5, scope: !20)
  %v20 = add i64 %v17, %v19, !dbg !DILocation(line: 5, scope: !20)
  %t18 = inttoptr i64 %v17 to ptr addrspace(258), !dbg !DILocation(line: 5, scope: !20)
  %t19 = getelementptr i8, ptr addrspace(258) %t18, i64 %v19, !dbg !DILocation(line: 5, scope: !20)
  %t20 = getelementptr i8, ptr addrspace(258) %t19, i64 8, !dbg !DILocation(line: 5, scope: !20)
  %v21 = load i64, ptr addrspace(258) %t20, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 5, scope: !20)
  %v22 = add i64 %v15, %v21, !dbg !DILocation(line: 6, scope: !20)
  ret i64 %v22, !dbg !DILocation(line: 7, scope: !20)
}

; guard: function 5
define dso_local i64 @wf5(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i64 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !21 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  %roots = alloca [1 x i64], align 8
  br label %b0
b0:
  br label %e1, !dbg !DILocation(line: 1, scope: !21)
b2:
  %v7 = phi i32 [ %v3, %e1 ], [ %v29, %e23 ]
  %t2 = icmp ne i32 0, 0, !dbg !DILocation(line: 1, scope: !21)
  br i1 %t2, label %x3, label %g3, !prof !1, !dbg !DILocation(line: 1, scope: !21)
x3:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !21)
  unreachable
g3:
  %t4 = icmp eq i64 %v2, 0, !dbg !DILocation(line: 2, scope: !21)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 2, scope: !21)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !21)
  unreachable
g5:
  %v8 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !21)
  %t6 = inttoptr i64 %v8 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !21)
  %t7 = getelementptr i8, ptr addrspace(258) %t6, i64 896, !dbg !DILocation(line: 2, scope: !21)
  %v9 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !21)
  %v10 = trunc i64 %v2 to i32, !dbg !DILocation(line: 2, scope: !21)
  %v11 = zext i32 %v10 to i64, !dbg !DILocation(line: 2, scope: !21)
  %v12 = add i64 %v9, %v11, !dbg !DILocation(line: 2, scope: !21)
  %t8 = inttoptr i64 %v9 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !21)
  %t9 = getelementptr i8, ptr addrspace(258) %t8, i64 %v11, !dbg !DILocation(line: 2, scope: !21)
  %t10 = getelementptr i8, ptr addrspace(258) %t9, i64 4, !dbg !DILocation(line: 2, scope: !21)
  %v13 = load i32, ptr addrspace(258) %t10, align 4, !alias.scope !{!8}, !noalias !{!9}, !dbg !DILocation(line: 2, scope: !21)
  %t11 = icmp uge i32 %v7, %v13, !dbg !DILocation(line: 2, scope: !21)
  %v14 = zext i1 %t11 to i8, !dbg !DILocation(line: 2, scope: !21)
  %t12 = icmp ne i8 %v14, 0, !dbg !DILocation(line: 2, scope: !21)
  br i1 %t12, label %x13, label %g13, !prof !1, !dbg !DILocation(line: 2, scope: !21)
x13:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 2\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !21)
  unreachable
g13:
  %v15 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !21)
  %t14 = inttoptr i64 %v15 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !21)
  %t15 = getelementptr i8, ptr addrspace(258) %t14, i64 896, !dbg !DILocation(line: 2, scope: !21)
  %v16 = load i64, ptr addrspace(258) %t15, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !21)
  %v17 = trunc i64 %v2 to i32, !dbg !DILocation(line: 2, scope: !21)
  %v18 = zext i32 %v17 to i64, !dbg !DILocation(line: 2, scope: !21)
  %v19 = add i64 %v16, %v18, !dbg !DILocation(line: 2, scope: !21)
  %v20 = zext i32 %v7 to i64, !dbg !DILocation(line: 2, scope: !21)
  %v22 = shl i64 %v20, 2, !dbg !DILocation(line: 2, scope: !21)
  %v23 = add i64 %v19, %v22, !dbg !DILocation(line: 2, scope: !21)
  %v25 = call i64 asm "cmpl $2, $1\0Acmovaeq $3, $0", "=&r,r,re,r,0,~{flags}"(i32 %v7, i32 %v13, i64 0, i64 %v23) #3, !dbg !DILocation(line: 2, scope: !21)
  %t16 = inttoptr i64 %v25 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !21)
  %t17 = getelementptr i8, ptr addrspace(258) %t16, i64 8, !dbg !DILocation(line: 2, scope: !21)
  store volatile i32 %v7, ptr addrspace(258) %t17, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 2, scope: !21)
  %t18 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 3, scope: !21)
  %v26 = load i64, ptr addrspace(258) %t18, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !21)
  %t19 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 3, scope: !21)
  %v27 = load i64, ptr addrspace(258) %t19, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !21)
  %t20 = getelementptr i8, ptr %roots, i64 0, !dbg !DILocation(line: 3, scope: !21)
  store volatile i64 %v2, ptr %t20, align 8, !dbg !DILocation(line: 3, scope: !21)
  %t21 = inttoptr i64 %v26 to ptr, !dbg !DILocation(line: 3, scope: !21)
  call void %t21(i64 %v27, i64 %v0) #1, !dbg !DILocation(line: 3, scope: !21)
  %v29 = sub i32 %v7, 1, !dbg !DILocation(line: 5, scope: !21)
  %t22 = icmp ne i32 %v29, 0, !dbg !DILocation(line: 6, scope: !21)
  br i1 %t22, label %e23, label %b3, !dbg !DILocation(line: 6, scope: !21)
b3:
  %v34 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !21)
  %t24 = inttoptr i64 %v34 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t25 = getelementptr i8, ptr addrspace(258) %t24, i64 904, !dbg !DILocation(line: 9, scope: !21)
  %v35 = load atomic i64, ptr addrspace(258) %t25 unordered, align 8, !noalias !{!8, !9}, !dbg !DILocation(line: 9, scope: !21)
  %t26 = inttoptr i64 %v34 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t27 = getelementptr i8, ptr addrspace(258) %t26, i64 912, !dbg !DILocation(line: 9, scope: !21)
  %v36 = load atomic i64, ptr addrspace(258) %t27 unordered, align 8, !noalias !{!8, !9}, !dbg !DILocation(line: 9, scope: !21)
  %v37 = add i64 %v35, 24, !dbg !DILocation(line: 9, scope: !21)
  %t28 = icmp ugt i64 %v37, %v36, !dbg !DILocation(line: 9, scope: !21)
  %v38 = zext i1 %t28 to i8, !dbg !DILocation(line: 9, scope: !21)
  %t29 = icmp ne i8 %v38, 0, !dbg !DILocation(line: 9, scope: !21)
  br i1 %t29, label %b5, label %b4, !prof !1, !dbg !DILocation(line: 9, scope: !21)
b4:
  %t30 = getelementptr i8, ptr addrspace(258) %context, i64 16, !dbg !DILocation(line: 9, scope: !21)
  %v40 = load i64, ptr addrspace(258) %t30, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !21)
  %t31 = inttoptr i64 %v40 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %v41 = load i32, ptr addrspace(258) %t31, align 4, !invariant.load !0, !dbg !DILocation(line: 9, scope: !21)
  %v42 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !21)
  %t32 = inttoptr i64 %v42 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t33 = getelementptr i8, ptr addrspace(258) %t32, i64 896, !dbg !DILocation(line: 9, scope: !21)
  %v43 = load i64, ptr addrspace(258) %t33, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !21)
  %v44 = trunc i64 %v35 to i32, !dbg !DILocation(line: 9, scope: !21)
  %v45 = zext i32 %v44 to i64, !dbg !DILocation(line: 9, scope: !21)
  %v46 = add i64 %v43, %v45, !dbg !DILocation(line: 9, scope: !21)
  %t34 = inttoptr i64 %v43 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t35 = getelementptr i8, ptr addrspace(258) %t34, i64 %v45, !dbg !DILocation(line: 9, scope: !21)
  store volatile i32 %v41, ptr addrspace(258) %t35, align 4, !alias.scope !{!8}, !noalias !{!9}, !dbg !DILocation(line: 9, scope: !21)
  %t36 = inttoptr i64 %v43 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t37 = getelementptr i8, ptr addrspace(258) %t36, i64 %v45, !dbg !DILocation(line: 9, scope: !21)
  %t38 = getelementptr i8, ptr addrspace(258) %t37, i64 4, !dbg !DILocation(line: 9, scope: !21)
  store volatile i32 -1, ptr addrspace(258) %t38, align 4, !alias.scope !{!8}, !noalias !{!9}, !dbg !DILocation(line: 9, scope: !21)
  %t39 = inttoptr i64 %v34 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t40 = getelementptr i8, ptr addrspace(258) %t39, i64 904, !dbg !DILocation(line: 9, scope: !21)
  store volatile i64 %v37, ptr addrspace(258) %t40, align 8, !noalias !{!8, !9}, !dbg !DILocation(line: 9, scope: !21)
  br label %e41, !dbg !DILocation(line: 9, scope: !21)
b5:
  %t42 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 9, scope: !21)
  %v48 = load i64, ptr addrspace(258) %t42, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !21)
  %t43 = inttoptr i64 %v48 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t44 = getelementptr i8, ptr addrspace(258) %t43, i64 200, !dbg !DILocation(line: 9, scope: !21)
  %v49 = load i64, ptr addrspace(258) %t44, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !21)
  %t45 = inttoptr i64 %v49 to ptr, !dbg !DILocation(line: 9, scope: !21)
  %v50 = call i64 %t45(i64 %v0, i32 0, i32 -1) #1, !dbg !DILocation(line: 9, scope: !21)
  %t46 = icmp eq i64 %v50, 0, !dbg !DILocation(line: 9, scope: !21)
  br i1 %t46, label %x47, label %g47, !prof !1, !dbg !DILocation(line: 9, scope: !21)
x47:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 3\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 9, scope: !21)
  unreachable
g47:
  br label %e48, !dbg !DILocation(line: 9, scope: !21)
b6:
  %v39 = phi i64 [ %v35, %e41 ], [ %v50, %e48 ]
  %v51 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !21)
  %t49 = inttoptr i64 %v51 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t50 = getelementptr i8, ptr addrspace(258) %t49, i64 896, !dbg !DILocation(line: 9, scope: !21)
  %v52 = load i64, ptr addrspace(258) %t50, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !21)
  %v53 = trunc i64 %v39 to i32, !dbg !DILocation(line: 9, scope: !21)
  %v54 = zext i32 %v53 to i64, !dbg !DILocation(line: 9, scope: !21)
  %v55 = add i64 %v52, %v54, !dbg !DILocation(line: 9, scope: !21)
  %t51 = inttoptr i64 %v52 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t52 = getelementptr i8, ptr addrspace(258) %t51, i64 %v54, !dbg !DILocation(line: 9, scope: !21)
  %t53 = getelementptr i8, ptr addrspace(258) %t52, i64 8, !dbg !DILocation(line: 9, scope: !21)
  store volatile i64 1, ptr addrspace(258) %t53, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 9, scope: !21)
  %t54 = trunc i64 0 to i32, !dbg !DILocation(line: 9, scope: !21)
  %t55 = inttoptr i64 %v52 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !21)
  %t56 = getelementptr i8, ptr addrspace(258) %t55, i64 %v54, !dbg !DILocation(line: 9, scope: !21)
  %t57 = getelementptr i8, ptr addrspace(258) %t56, i64 16, !dbg !DILocation(line: 9, scope: !21)
  store volatile i32 %t54, ptr addrspace(258) %t57, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 9, scope: !21)
  ret i64 %v39, !dbg !DILocation(line: 10, scope: !21)
e1:
  br label %b2, !dbg !DILocation(line: 1, scope: !21)
e23:
  br label %b2, !dbg !DILocation(line: 6, scope: !21)
e41:
  br label %b6, !dbg !DILocation(line: 9, scope: !21)
e48:
  br label %b6, !dbg !DILocation(line: 9, scope: !21)
}

; guard: function 6
define dso_local void @wf6(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i64 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !22 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  %roots = alloca [1 x i64], align 8
  br label %b0
b0:
  br label %e1, !dbg !DILocation(line: 1, scope: !22)
b2:
  %v5 = phi i32 [ %v3, %e1 ], [ %v24, %e22 ]
  %t2 = icmp ne i32 0, 0, !dbg !DILocation(line: 1, scope: !22)
  br i1 %t2, label %x3, label %g3, !prof !1, !dbg !DILocation(line: 1, scope: !22)
x3:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf6, 6, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !22)
  unreachable
g3:
  %v7 = and i32 %v5, 8, !dbg !DILocation(line: 3, scope: !22)
  %t4 = icmp ne i32 %v7, 0, !dbg !DILocation(line: 4, scope: !22)
  br i1 %t4, label %b4, label %b3, !dbg !DILocation(line: 4, scope: !22)
b4:
  %t5 = icmp eq i64 %v2, 0, !dbg !DILocation(line: 6, scope: !22)
  br i1 %t5, label %x6, label %g6, !prof !1, !dbg !DILocation(line: 6, scope: !22)
x6:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf6, 6, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 6, scope: !22)
  unreachable
g6:
  %v10 = load i64, ptr addrspace(258) %context, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !22)
  %t7 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 6, scope: !22)
  %t8 = getelementptr i8, ptr addrspace(258) %t7, i64 896, !dbg !DILocation(line: 6, scope: !22)
  %v11 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !22)
  %v12 = trunc i64 %v2 to i32, !dbg !DILocation(line: 6, scope: !22)
  %v13 = zext i32 %v12 to i64, !dbg !DILocation(line: 6, scope: !22)
  %v14 = add i64 %v11, %v13, !dbg !DILocation(line: 6, scope: !22)
  %t9 = inttoptr i64 %v11 to ptr addrspace(258), !dbg !DILocation(line: 6, scope: !22)
  %t10 = getelementptr i8, ptr addrspace(258) %t9, i64 %v13, !dbg !DILocation(line: 6, scope: !22)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 6, scope: !22)
  store volatile i64 7, ptr addrspace(258) %t11, align 1, !alias.scope !{!9}, !noalias !{!8}, !dbg !DILocation(line: 6, scope: !22)
  br label %b3, !dbg !DILocation(line: 7, scope: !22)
b3:
  %t12 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 8, scope: !22)
  %v15 = load i64, ptr addrspace(258) %t12, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !22)
  %t13 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 8, scope: !22)
  %v16 = load i64, ptr addrspace(258) %t13, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !22)
  %t14 = getelementptr i8, ptr %roots, i64 0, !dbg !DILocation(line: 8, scope: !22)
  store volatile i64 %v2, ptr %t14, align 8, !dbg !DILocation(line: 8, scope: !22)
  %t15 = inttoptr i64 %v15 to ptr, !dbg !DILocation(line: 8, scope: !22)
  call void %t15(i64 %v16, i64 %v0) #1, !dbg !DILocation(line: 8, scope: !22)
  %v19 = and i32 %v5, 1, !dbg !DILocation(line: 10, scope: !22)
  %t16 = icmp ne i32 %v19, 0, !dbg !DILocation(line: 11, scope: !22)
  br i1 %t16, label %b7, label %b6, !dbg !DILocation(line: 11, scope: !22)
b7:
  %t17 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 12, scope: !22)
  %v20 = load i64, ptr addrspace(258) %t17, align 8, !invariant.load !0, !dbg !DILocation(line: 12, scope: !22)
  %t18 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 12, scope: !22)
  %v21 = load i64, ptr addrspace(258) %t18, align 8, !invariant.load !0, !dbg !DILocation(line: 12, scope: !22)
  %t19 = getelementptr i8, ptr %roots, i64 0, !dbg !DILocation(line: 12, scope: !22)
  store volatile i64 %v2, ptr %t19, align 8, !dbg !DILocation(line: 12, scope: !22)
  %t20 = inttoptr i64 %v20 to ptr, !dbg !DILocation(line: 12, scope: !22)
  call void %t20(i64 %v21, i64 %v0) #1, !dbg !DILocation(line: 12, scope: !22)
  br label %b6, !dbg !DILocation(line: 13, scope: !22)
b6:
  %v24 = sub i32 %v5, 1, !dbg !DILocation(line: 15, scope: !22)
  %t21 = icmp ne i32 %v24, 0, !dbg !DILocation(line: 16, scope: !22)
  br i1 %t21, label %e22, label %b9, !dbg !DILocation(line: 16, scope: !22)
b9:
  ret void, !dbg !DILocation(line: 17, scope: !22)
e1:
  br label %b2, !dbg !DILocation(line: 1, scope: !22)
e22:
  br label %b2, !dbg !DILocation(line: 16, scope: !22)
}

; guard: function 7
define dso_local i64 @wf7(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i64 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !23 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !23)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !23)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !23)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !23)
  %t3 = inttoptr i64 %v4 to ptr, !dbg !DILocation(line: 1, scope: !23)
  call void %t3(i64 %v5, i64 %v0) #1, !dbg !DILocation(line: 1, scope: !23)
  ret i64 %v2, !dbg !DILocation(line: 2, scope: !23)
}

