; guard: function 0
define dso_local void @wf0(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3, i32 %v4, i32 %v5) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !16 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !16)
  %v7 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !16)
  %v8 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  br label %e3, !dbg !DILocation(line: 2, scope: !16)
b2:
  %v11 = phi i32 [ %v35, %e17 ], [ %v38, %e28 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 2, scope: !16)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 2, scope: !16)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !16)
  unreachable
g5:
  %v13 = shl i32 %v11, 3, !dbg !DILocation(line: 4, scope: !16)
  %v14 = add i32 %v4, %v13, !dbg !DILocation(line: 5, scope: !16)
  %v17 = shl i32 %v11, 3, !dbg !DILocation(line: 7, scope: !16)
  %v18 = add i32 %v2, %v17, !dbg !DILocation(line: 8, scope: !16)
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 9, scope: !16)
  %v19 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !16)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 9, scope: !16)
  %v20 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !16)
  %v21 = zext i32 %v18 to i64, !dbg !DILocation(line: 9, scope: !16)
  %v22 = add i64 %v19, %v21, !dbg !DILocation(line: 9, scope: !16)
  %t8 = inttoptr i64 %v19 to ptr, !dbg !DILocation(line: 9, scope: !16)
  %t9 = getelementptr i8, ptr %t8, i64 %v21, !dbg !DILocation(line: 9, scope: !16)
  %v23 = load volatile double, ptr %t9, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 9, scope: !16)
  %v26 = shl i32 %v11, 3, !dbg !DILocation(line: 11, scope: !16)
  %v27 = add i32 %v3, %v26, !dbg !DILocation(line: 12, scope: !16)
  %v28 = zext i32 %v27 to i64, !dbg !DILocation(line: 13, scope: !16)
  %v29 = add i64 %v19, %v28, !dbg !DILocation(line: 13, scope: !16)
  %t10 = inttoptr i64 %v19 to ptr, !dbg !DILocation(line: 13, scope: !16)
  %t11 = getelementptr i8, ptr %t10, i64 %v28, !dbg !DILocation(line: 13, scope: !16)
  %v30 = load volatile double, ptr %t11, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 13, scope: !16)
  %v31 = fadd double %v23, %v30, !dbg !DILocation(line: 14, scope: !16)
  %v32 = zext i32 %v14 to i64, !dbg !DILocation(line: 15, scope: !16)
  %v33 = add i64 %v19, %v32, !dbg !DILocation(line: 15, scope: !16)
  %t12 = inttoptr i64 %v19 to ptr, !dbg !DILocation(line: 15, scope: !16)
  %t13 = getelementptr i8, ptr %t12, i64 %v32, !dbg !DILocation(line: 15, scope: !16)
  %t14 = getelementptr i8, ptr %t13, i64 8, !dbg !DILocation(line: 15, scope: !16)
  store volatile double %v31, ptr %t14, align 1, !pcsections !{!"ft", !{i32 3}}, !dbg !DILocation(line: 15, scope: !16)
  %v35 = add i32 %v11, 1, !dbg !DILocation(line: 17, scope: !16)
  %t15 = icmp slt i32 %v35, %v5, !dbg !DILocation(line: 18, scope: !16)
  %v37 = zext i1 %t15 to i8, !dbg !DILocation(line: 18, scope: !16)
  %t16 = icmp ne i8 %v37, 0, !dbg !DILocation(line: 19, scope: !16)
  br i1 %t16, label %e17, label %b4, !dbg !DILocation(line: 19, scope: !16)
b3:
  ret void, !dbg !DILocation(line: 20, scope: !16)
b4:
  br label %b3, !dbg !DILocation(line: 21, scope: !16)
b5:
  %v38 = phi i32 [ 0, %e3 ]
  %v40 = add i32 1, %v38, !dbg !DILocation(line: 22, scope: !16)
  %v41 = sext i32 %v40 to i64, !dbg !DILocation(line: 22, scope: !16)
  %v43 = add i32 0, %v5, !dbg !DILocation(line: 22, scope: !16)
  %v44 = sext i32 %v43 to i64, !dbg !DILocation(line: 22, scope: !16)
  %v46 = sub i64 %v44, %v41, !dbg !DILocation(line: 22, scope: !16)
  %v47 = sub i64 2147483647, %v44, !dbg !DILocation(line: 22, scope: !16)
  %v49 = add i64 %v46, 0, !dbg !DILocation(line: 22, scope: !16)
  %v51 = call i64 @llvm.smax.i64(i64 %v49, i64 0), !dbg !DILocation(line: 22, scope: !16)
  %v53 = lshr i64 %v51, 0, !dbg !DILocation(line: 22, scope: !16)
  %v55 = add i32 0, %v2, !dbg !DILocation(line: 22, scope: !16)
  %v57 = mul i32 %v38, 8, !dbg !DILocation(line: 22, scope: !16)
  %v58 = add i32 %v55, %v57, !dbg !DILocation(line: 22, scope: !16)
  %v59 = zext i32 %v58 to i64, !dbg !DILocation(line: 22, scope: !16)
  %v61 = mul i64 %v53, 8, !dbg !DILocation(line: 22, scope: !16)
  %v62 = add i64 %v59, %v61, !dbg !DILocation(line: 22, scope: !16)
  %t18 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 23, scope: !16)
  %v63 = load i64, ptr addrspace(258) %t18, align 8, !invariant.load !0, !dbg !DILocation(line: 23, scope: !16)
  %t19 = inttoptr i64 %v63 to ptr addrspace(258), !dbg !DILocation(line: 24, scope: !16)
  %t20 = getelementptr i8, ptr addrspace(258) %t19, i64 8, !dbg !DILocation(line: 24, scope: !16)
  %v64 = load atomic i64, ptr addrspace(258) %t20 unordered, align 8, !dbg !DILocation(line: 24, scope: !16)
  %v66 = add i64 %v62, 8, !dbg !DILocation(line: 24, scope: !16)
  %v67 = sub i64 %v64, %v66, !dbg !DILocation(line: 24, scope: !16)
  %v68 = or i64 %v47, %v67, !dbg !DILocation(line: 24, scope: !16)
  %t21 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 25, scope: !16)
  %v69 = load i64, ptr addrspace(258) %t21, align 8, !invariant.load !0, !dbg !DILocation(line: 25, scope: !16)
  %v71 = add i64 %v59, 0, !dbg !DILocation(line: 26, scope: !16)
  %v72 = add i64 %v69, %v71, !dbg !DILocation(line: 26, scope: !16)
  %v74 = add i64 %v59, 0, !dbg !DILocation(line: 26, scope: !16)
  %v75 = add i64 %v69, %v74, !dbg !DILocation(line: 26, scope: !16)
  %v77 = add i64 %v66, 0, !dbg !DILocation(line: 26, scope: !16)
  %v78 = add i64 %v69, %v77, !dbg !DILocation(line: 26, scope: !16)
  %v80 = add i32 0, %v3, !dbg !DILocation(line: 26, scope: !16)
  %v82 = mul i32 %v38, 8, !dbg !DILocation(line: 26, scope: !16)
  %v83 = add i32 %v80, %v82, !dbg !DILocation(line: 26, scope: !16)
  %v84 = zext i32 %v83 to i64, !dbg !DILocation(line: 26, scope: !16)
  %v86 = mul i64 %v53, 8, !dbg !DILocation(line: 26, scope: !16)
  %v87 = add i64 %v84, %v86, !dbg !DILocation(line: 26, scope: !16)
  %t22 = inttoptr i64 %v63 to ptr addrspace(258), !dbg !DILocation(line: 26, scope: !16)
  %t23 = getelementptr i8, ptr addrspace(258) %t22, i64 8, !dbg !DILocation(line: 26, scope: !16)
  %v88 = load atomic i64, ptr addrspace(258) %t23 unordered, align 8, !dbg !DILocation(line: 26, scope: !16)
  %v90 = add i64 %v87, 8, !dbg !DILocation(line: 26, scope: !16)
  %v91 = sub i64 %v88, %v90, !dbg !DILocation(line: 26, scope: !16)
  %v92 = or i64 %v68, %v91, !dbg !DILocation(line: 26, scope: !16)
  %v94 = add i64 %v84, 0, !dbg !DILocation(line: 26, scope: !16)
  %v95 = add i64 %v69, %v94, !dbg !DILocation(line: 26, scope: !16)
  %v97 = add i64 %v84, 0, !dbg !DILocation(line: 26, scope: !16)
  %v98 = add i64 %v69, %v97, !dbg !DILocation(line: 26, scope: !16)
  %v100 = add i64 %v90, 0, !dbg !DILocation(line: 26, scope: !16)
  %v101 = add i64 %v69, %v100, !dbg !DILocation(line: 26, scope: !16)
  %v103 = add i32 0, %v4, !dbg !DILocation(line: 26, scope: !16)
  %v105 = mul i32 %v38, 8, !dbg !DILocation(line: 26, scope: !16)
  %v106 = add i32 %v103, %v105, !dbg !DILocation(line: 26, scope: !16)
  %v107 = zext i32 %v106 to i64, !dbg !DILocation(line: 26, scope: !16)
  %v109 = mul i64 %v53, 8, !dbg !DILocation(line: 26, scope: !16)
  %v110 = add i64 %v107, %v109, !dbg !DILocation(line: 26, scope: !16)
  %t24 = inttoptr i64 %v63 to ptr addrspace(258), !dbg !DILocation(line: 26, scope: !16)
  %t25 = getelementptr i8, ptr addrspace(258) %t24, i64 8, !dbg !DILocation(line: 26, scope: !16)
  %v111 = load atomic i64, ptr addrspace(258) %t25 unordered, align 8, !dbg !DILocation(line: 26, scope: !16)
  %v113 = add i64 %v110, 16, !dbg !DILocation(line: 26, scope: !16)
  %v114 = sub i64 %v111, %v113, !dbg !DILocation(line: 26, scope: !16)
  %v115 = or i64 %v92, %v114, !dbg !DILocation(line: 26, scope: !16)
  %v117 = add i64 %v107, 8, !dbg !DILocation(line: 26, scope: !16)
  %v118 = add i64 %v69, %v117, !dbg !DILocation(line: 26, scope: !16)
  %v120 = add i64 %v107, 8, !dbg !DILocation(line: 26, scope: !16)
  %v121 = add i64 %v69, %v120, !dbg !DILocation(line: 26, scope: !16)
  %v123 = add i64 %v113, 0, !dbg !DILocation(line: 26, scope: !16)
  %v124 = add i64 %v69, %v123, !dbg !DILocation(line: 26, scope: !16)
  %v125 = sub i64 %v121, %v78, !dbg !DILocation(line: 26, scope: !16)
  %v126 = sub i64 %v75, %v124, !dbg !DILocation(line: 26, scope: !16)
  %v127 = and i64 %v125, %v126, !dbg !DILocation(line: 26, scope: !16)
  %v128 = or i64 %v115, %v127, !dbg !DILocation(line: 26, scope: !16)
  %v129 = sub i64 %v121, %v101, !dbg !DILocation(line: 26, scope: !16)
  %v130 = sub i64 %v98, %v124, !dbg !DILocation(line: 26, scope: !16)
  %v131 = and i64 %v129, %v130, !dbg !DILocation(line: 26, scope: !16)
  %v132 = or i64 %v128, %v131, !dbg !DILocation(line: 26, scope: !16)
  %t26 = icmp slt i64 %v132, 0, !dbg !DILocation(line: 26, scope: !16)
  %v134 = zext i1 %t26 to i8, !dbg !DILocation(line: 26, scope: !16)
  %t27 = icmp ne i8 %v134, 0, !dbg !DILocation(line: 26, scope: !16)
  br i1 %t27, label %e28, label %b6, !dbg !DILocation(line: 26, scope: !16)
b6:
  %v135 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v132, i64 0, i64 %v69, i64 %v72) #3, !dbg !DILocation(line: 26, scope: !16)
  %v136 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v132, i64 0, i64 %v69, i64 %v95) #3, !dbg !DILocation(line: 26, scope: !16)
  %v137 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v132, i64 0, i64 %v69, i64 %v118) #3, !dbg !DILocation(line: 26, scope: !16)
  %v139 = and i64 %v53, 4294967295, !dbg !DILocation(line: 26, scope: !16)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 28, scope: !16)
  br label %e29, !dbg !DILocation(line: 28, scope: !16)
b7:
  %v141 = phi i32 [ %v38, %e29 ], [ %v155, %e38 ]
  %v142 = phi i64 [ 0, %e29 ], [ %v158, %e38 ]
  %v145 = mul i64 %v142, 8, !dbg !DILocation(line: 29, scope: !16)
  %v146 = add i64 %v135, %v145, !dbg !DILocation(line: 29, scope: !16)
  %t30 = inttoptr i64 %v135 to ptr addrspace(258), !dbg !DILocation(line: 30, scope: !16)
  %t31 = getelementptr inbounds i8, ptr addrspace(258) %t30, i64 %v145, !dbg !DILocation(line: 30, scope: !16)
  %v143 = load double, ptr addrspace(258) %t31, align 1, !alias.scope !{!{!"0.0.0", !{!"0.0"}}}, !noalias !{!{!"0.0.2", !{!"0.0"}}}, !dbg !DILocation(line: 30, scope: !16)
  %v149 = mul i64 %v142, 8, !dbg !DILocation(line: 31, scope: !16)
  %v150 = add i64 %v136, %v149, !dbg !DILocation(line: 31, scope: !16)
  %t32 = inttoptr i64 %v136 to ptr addrspace(258), !dbg !DILocation(line: 32, scope: !16)
  %t33 = getelementptr inbounds i8, ptr addrspace(258) %t32, i64 %v149, !dbg !DILocation(line: 32, scope: !16)
  %v147 = load double, ptr addrspace(258) %t33, align 1, !alias.scope !{!{!"0.0.1", !{!"0.0"}}}, !noalias !{!{!"0.0.2", !{!"0.0"}}}, !dbg !DILocation(line: 32, scope: !16)
  %v151 = fadd double %v143, %v147, !dbg !DILocation(line: 32, scope: !16)
  %v153 = mul i64 %v142, 8, !dbg !DILocation(line: 33, scope: !16)
  %v154 = add i64 %v137, %v153, !dbg !DILocation(line: 33, scope: !16)
  %t34 = inttoptr i64 %v137 to ptr addrspace(258), !dbg !DILocation(line: 34, scope: !16)
  %t35 = getelementptr inbounds i8, ptr addrspace(258) %t34, i64 %v153, !dbg !DILocation(line: 34, scope: !16)
  store double %v151, ptr addrspace(258) %t35, align 1, !alias.scope !{!{!"0.0.2", !{!"0.0"}}}, !noalias !{!{!"0.0.0", !{!"0.0"}}, !{!"0.0.1", !{!"0.0"}}}, !dbg !DILocation(line: 34, scope: !16)
  %v155 = add i32 %v141, 1, !dbg !DILocation(line: 34, scope: !16)
  %t36 = icmp ne i64 %v142, %v139, !dbg !DILocation(line: 35, scope: !16)
  %v156 = zext i1 %t36 to i8, !dbg !DILocation(line: 35, scope: !16)
  %v158 = add i64 %v142, 1, !dbg !DILocation(line: 35, scope: !16)
  %t37 = icmp ne i8 %v156, 0, !dbg !DILocation(line: 36, scope: !16)
  br i1 %t37, label %e38, label %b8, !dbg !DILocation(line: 36, scope: !16)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 37, scope: !16)
  br label %b4, !dbg !DILocation(line: 37, scope: !16)
e3:
  br label %b5, !dbg !DILocation(line: 2, scope: !16)
e17:
  br label %b2, !dbg !DILocation(line: 19, scope: !16)
e28:
  br label %b2, !dbg !DILocation(line: 26, scope: !16)
e29:
  br label %b7, !dbg !DILocation(line: 28, scope: !16)
e38:
  br label %b7, !dbg !DILocation(line: 36, scope: !16)
}

; guard: function 1
define dso_local i32 @wf1(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !17 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !17)
  %v6 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !17)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !17)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !17)
  br label %e3, !dbg !DILocation(line: 2, scope: !17)
b2:
  %v9 = phi i32 [ %v16, %e13 ], [ %v22, %e21 ]
  %v10 = phi i32 [ %v18, %e13 ], [ %v23, %e21 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 2, scope: !17)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 2, scope: !17)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf1, 1, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !17)
  unreachable
g5:
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 3, scope: !17)
  %v11 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !17)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 3, scope: !17)
  %v12 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !17)
  %v13 = zext i32 %v10 to i64, !dbg !DILocation(line: 3, scope: !17)
  %v14 = add i64 %v11, %v13, !dbg !DILocation(line: 3, scope: !17)
  %t8 = inttoptr i64 %v11 to ptr, !dbg !DILocation(line: 3, scope: !17)
  %t9 = getelementptr i8, ptr %t8, i64 %v13, !dbg !DILocation(line: 3, scope: !17)
  %v15 = load volatile i32, ptr %t9, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 3, scope: !17)
  %t10 = call i32 asm "", "=r,0"(i32 %v15) #3, !dbg !DILocation(line: 4, scope: !17)
  %v16 = add i32 %v9, %t10, !dbg !DILocation(line: 4, scope: !17)
  %v18 = add i32 %v10, 4, !dbg !DILocation(line: 6, scope: !17)
  %t11 = icmp ne i32 %v18, %v3, !dbg !DILocation(line: 7, scope: !17)
  %v20 = zext i1 %t11 to i8, !dbg !DILocation(line: 7, scope: !17)
  %t12 = icmp ne i8 %v20, 0, !dbg !DILocation(line: 8, scope: !17)
  br i1 %t12, label %e13, label %e14, !dbg !DILocation(line: 8, scope: !17)
b3:
  ret i32 %v21, !dbg !DILocation(line: 9, scope: !17)
b4:
  %v21 = phi i32 [ %v16, %e14 ], [ %v71, %e28 ]
  br label %b3, !dbg !DILocation(line: 10, scope: !17)
b5:
  %v22 = phi i32 [ 0, %e3 ]
  %v23 = phi i32 [ %v2, %e3 ]
  %v26 = mul i32 %v3, -1, !dbg !DILocation(line: 11, scope: !17)
  %v27 = add i32 4, %v26, !dbg !DILocation(line: 11, scope: !17)
  %v28 = add i32 %v27, %v23, !dbg !DILocation(line: 11, scope: !17)
  %v29 = sub i32 0, %v28, !dbg !DILocation(line: 11, scope: !17)
  %v30 = zext i32 %v29 to i64, !dbg !DILocation(line: 11, scope: !17)
  %v32 = and i64 %v30, 3, !dbg !DILocation(line: 11, scope: !17)
  %v33 = sub i64 0, %v32, !dbg !DILocation(line: 11, scope: !17)
  %v35 = lshr i64 %v30, 2, !dbg !DILocation(line: 11, scope: !17)
  %v37 = add i32 0, %v23, !dbg !DILocation(line: 11, scope: !17)
  %v38 = zext i32 %v37 to i64, !dbg !DILocation(line: 11, scope: !17)
  %v40 = mul i64 %v35, 4, !dbg !DILocation(line: 11, scope: !17)
  %v41 = add i64 %v38, %v40, !dbg !DILocation(line: 11, scope: !17)
  %t15 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 12, scope: !17)
  %v42 = load i64, ptr addrspace(258) %t15, align 8, !invariant.load !0, !dbg !DILocation(line: 12, scope: !17)
  %t16 = inttoptr i64 %v42 to ptr addrspace(258), !dbg !DILocation(line: 13, scope: !17)
  %t17 = getelementptr i8, ptr addrspace(258) %t16, i64 8, !dbg !DILocation(line: 13, scope: !17)
  %v43 = load atomic i64, ptr addrspace(258) %t17 unordered, align 8, !dbg !DILocation(line: 13, scope: !17)
  %v45 = add i64 %v41, 4, !dbg !DILocation(line: 13, scope: !17)
  %v46 = sub i64 %v43, %v45, !dbg !DILocation(line: 13, scope: !17)
  %v47 = or i64 %v33, %v46, !dbg !DILocation(line: 13, scope: !17)
  %t18 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 14, scope: !17)
  %v48 = load i64, ptr addrspace(258) %t18, align 8, !invariant.load !0, !dbg !DILocation(line: 14, scope: !17)
  %v50 = add i64 %v38, 0, !dbg !DILocation(line: 15, scope: !17)
  %v51 = add i64 %v48, %v50, !dbg !DILocation(line: 15, scope: !17)
  %v53 = add i64 %v38, 0, !dbg !DILocation(line: 15, scope: !17)
  %v54 = add i64 %v48, %v53, !dbg !DILocation(line: 15, scope: !17)
  %v56 = add i64 %v45, 0, !dbg !DILocation(line: 15, scope: !17)
  %v57 = add i64 %v48, %v56, !dbg !DILocation(line: 15, scope: !17)
  %t19 = icmp slt i64 %v47, 0, !dbg !DILocation(line: 15, scope: !17)
  %v59 = zext i1 %t19 to i8, !dbg !DILocation(line: 15, scope: !17)
  %t20 = icmp ne i8 %v59, 0, !dbg !DILocation(line: 15, scope: !17)
  br i1 %t20, label %e21, label %b6, !dbg !DILocation(line: 15, scope: !17)
b6:
  %v60 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v47, i64 0, i64 %v48, i64 %v51) #3, !dbg !DILocation(line: 15, scope: !17)
  %v62 = and i64 %v35, 4294967295, !dbg !DILocation(line: 15, scope: !17)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 17, scope: !17)
  br label %e22, !dbg !DILocation(line: 17, scope: !17)
b7:
  %v64 = phi i32 [ %v22, %e22 ], [ %v71, %e27 ]
  %v65 = phi i32 [ %v23, %e22 ], [ %v72, %e27 ]
  %v66 = phi i64 [ 0, %e22 ], [ %v75, %e27 ]
  %v69 = mul i64 %v66, 4, !dbg !DILocation(line: 18, scope: !17)
  %v70 = add i64 %v60, %v69, !dbg !DILocation(line: 18, scope: !17)
  %t23 = inttoptr i64 %v60 to ptr addrspace(258), !dbg !DILocation(line: 19, scope: !17)
  %t24 = getelementptr inbounds i8, ptr addrspace(258) %t23, i64 %v69, !dbg !DILocation(line: 19, scope: !17)
  %v67 = load i32, ptr addrspace(258) %t24, align 1, !dbg !DILocation(line: 19, scope: !17)
  %v71 = add i32 %v64, %v67, !dbg !DILocation(line: 19, scope: !17)
  %v72 = add i32 %v65, 4, !dbg !DILocation(line: 19, scope: !17)
  %t25 = icmp ne i64 %v66, %v62, !dbg !DILocation(line: 20, scope: !17)
  %v73 = zext i1 %t25 to i8, !dbg !DILocation(line: 20, scope: !17)
  %v75 = add i64 %v66, 1, !dbg !DILocation(line: 20, scope: !17)
  %t26 = icmp ne i8 %v73, 0, !dbg !DILocation(line: 21, scope: !17)
  br i1 %t26, label %e27, label %b8, !dbg !DILocation(line: 21, scope: !17)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 22, scope: !17)
  br label %e28, !dbg !DILocation(line: 22, scope: !17)
e3:
  br label %b5, !dbg !DILocation(line: 2, scope: !17)
e13:
  br label %b2, !dbg !DILocation(line: 8, scope: !17)
e14:
  br label %b4, !dbg !DILocation(line: 8, scope: !17)
e21:
  br label %b2, !dbg !DILocation(line: 15, scope: !17)
e22:
  br label %b7, !dbg !DILocation(line: 17, scope: !17)
e27:
  br label %b7, !dbg !DILocation(line: 21, scope: !17)
e28:
  br label %b4, !dbg !DILocation(line: 22, scope: !17)
}

; guard: function 2
define dso_local void @wf2(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !18 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !18)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !18)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !18)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !18)
  br label %e3, !dbg !DILocation(line: 1, scope: !18)
b2:
  %v7 = phi i32 [ %v2, %e3 ], [ %v17, %e14 ]
  %v18 = phi i32 [ %v3, %e3 ], [ %v20, %e14 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 1, scope: !18)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 1, scope: !18)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf2, 2, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !18)
  unreachable
g5:
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !18)
  %v8 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !18)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !18)
  %v9 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !18)
  %v10 = zext i32 %v7 to i64, !dbg !DILocation(line: 2, scope: !18)
  %v11 = add i64 %v8, %v10, !dbg !DILocation(line: 2, scope: !18)
  %t8 = inttoptr i64 %v8 to ptr, !dbg !DILocation(line: 2, scope: !18)
  %t9 = getelementptr i8, ptr %t8, i64 %v10, !dbg !DILocation(line: 2, scope: !18)
  %v12 = load volatile i32, ptr %t9, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 2, scope: !18)
  %v14 = zext i32 %v12 to i64, !dbg !DILocation(line: 4, scope: !18)
  %v15 = add i64 %v8, %v14, !dbg !DILocation(line: 4, scope: !18)
  %t10 = trunc i32 0 to i8, !dbg !DILocation(line: 4, scope: !18)
  %t11 = inttoptr i64 %v8 to ptr, !dbg !DILocation(line: 4, scope: !18)
  %t12 = getelementptr i8, ptr %t11, i64 %v14, !dbg !DILocation(line: 4, scope: !18)
  store volatile i8 %t10, ptr %t12, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 4, scope: !18)
  %v17 = add i32 %v7, 4, !dbg !DILocation(line: 6, scope: !18)
  %v20 = sub i32 %v18, 1, !dbg !DILocation(line: 8, scope: !18)
  %t13 = icmp ne i32 %v20, 0, !dbg !DILocation(line: 9, scope: !18)
  br i1 %t13, label %e14, label %b3, !dbg !DILocation(line: 9, scope: !18)
b3:
  ret void, !dbg !DILocation(line: 10, scope: !18)
e3:
  br label %b2, !dbg !DILocation(line: 1, scope: !18)
e14:
  br label %b2, !dbg !DILocation(line: 9, scope: !18)
}

; guard: function 3
define dso_local void @wf3(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !19 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !19)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !19)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !19)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !19)
  br label %e3, !dbg !DILocation(line: 1, scope: !19)
b2:
  %v7 = phi i32 [ %v2, %e3 ], [ %v14, %e11 ]
  %v15 = phi i32 [ %v3, %e3 ], [ %v17, %e11 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 1, scope: !19)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 1, scope: !19)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf3, 3, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !19)
  unreachable
g5:
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 48, !dbg !DILocation(line: 3, scope: !19)
  %v9 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !19)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 56, !dbg !DILocation(line: 3, scope: !19)
  %v10 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !19)
  %v11 = zext i32 %v7 to i64, !dbg !DILocation(line: 3, scope: !19)
  %v12 = add i64 %v9, %v11, !dbg !DILocation(line: 3, scope: !19)
  %t8 = inttoptr i64 %v9 to ptr, !dbg !DILocation(line: 3, scope: !19)
  %t9 = getelementptr i8, ptr %t8, i64 %v11, !dbg !DILocation(line: 3, scope: !19)
  store volatile i32 0, ptr %t9, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 3, scope: !19)
  %v14 = add i32 %v7, 4, !dbg !DILocation(line: 5, scope: !19)
  %v17 = sub i32 %v15, 1, !dbg !DILocation(line: 7, scope: !19)
  %t10 = icmp ne i32 %v17, 0, !dbg !DILocation(line: 8, scope: !19)
  br i1 %t10, label %e11, label %b3, !dbg !DILocation(line: 8, scope: !19)
b3:
  ret void, !dbg !DILocation(line: 9, scope: !19)
e3:
  br label %b2, !dbg !DILocation(line: 1, scope: !19)
e11:
  br label %b2, !dbg !DILocation(line: 8, scope: !19)
}

; guard: function 4
define dso_local void @wf4(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3, i32 %v4) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !20 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !20)
  %v6 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !20)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !20)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !20)
  br label %e3, !dbg !DILocation(line: 2, scope: !20)
b2:
  %v10 = phi i32 [ 0, %e3 ], [ %v56, %e36 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 2, scope: !20)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 2, scope: !20)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !20)
  unreachable
g5:
  %v12 = shl i32 %v10, 3, !dbg !DILocation(line: 4, scope: !20)
  %v13 = add i32 %v3, %v12, !dbg !DILocation(line: 5, scope: !20)
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 7, scope: !20)
  %v15 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 7, scope: !20)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 7, scope: !20)
  %v16 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 7, scope: !20)
  br label %e8, !dbg !DILocation(line: 7, scope: !20)
b3:
  %v19 = phi i32 [ %v47, %e33 ], [ %v62, %e47 ]
  %t9 = icmp ne i32 0, 0, !dbg !DILocation(line: 7, scope: !20)
  br i1 %t9, label %x10, label %g10, !prof !1, !dbg !DILocation(line: 7, scope: !20)
x10:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 7, scope: !20)
  unreachable
g10:
  %v20 = add i32 %v2, %v19, !dbg !DILocation(line: 8, scope: !20)
  %t11 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 9, scope: !20)
  %v22 = load i64, ptr addrspace(258) %t11, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !20)
  %t12 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 9, scope: !20)
  %v23 = load i64, ptr addrspace(258) %t12, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !20)
  %v24 = zext i32 %v13 to i64, !dbg !DILocation(line: 9, scope: !20)
  %v25 = add i64 %v22, %v24, !dbg !DILocation(line: 9, scope: !20)
  %t13 = inttoptr i64 %v22 to ptr, !dbg !DILocation(line: 9, scope: !20)
  %t14 = getelementptr i8, ptr %t13, i64 %v24, !dbg !DILocation(line: 9, scope: !20)
  %v26 = load volatile i64, ptr %t14, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 9, scope: !20)
  %v28 = add i32 %v4, %v19, !dbg !DILocation(line: 10, scope: !20)
  %v29 = zext i32 %v28 to i64, !dbg !DILocation(line: 11, scope: !20)
  %v30 = add i64 %v22, %v29, !dbg !DILocation(line: 11, scope: !20)
  %t15 = inttoptr i64 %v22 to ptr, !dbg !DILocation(line: 11, scope: !20)
  %t16 = getelementptr i8, ptr %t15, i64 %v29, !dbg !DILocation(line: 11, scope: !20)
  %v31 = load volatile i64, ptr %t16, align 1, !pcsections !{!"ft", !{i32 3}}, !dbg !DILocation(line: 11, scope: !20)
  %t17 = call i64 asm "", "=r,0"(i64 %v26) #3, !dbg !DILocation(line: 12, scope: !20)
  %t18 = call i64 asm "", "=r,0"(i64 %v31) #3, !dbg !DILocation(line: 12, scope: !20)
  %v32 = xor i64 %t17, %t18, !dbg !DILocation(line: 12, scope: !20)
  %v33 = zext i32 %v20 to i64, !dbg !DILocation(line: 13, scope: !20)
  %v34 = add i64 %v22, %v33, !dbg !DILocation(line: 13, scope: !20)
  %t19 = inttoptr i64 %v22 to ptr, !dbg !DILocation(line: 13, scope: !20)
  %t20 = getelementptr i8, ptr %t19, i64 %v33, !dbg !DILocation(line: 13, scope: !20)
  store volatile i64 %v32, ptr %t20, align 1, !pcsections !{!"ft", !{i32 4}}, !dbg !DILocation(line: 13, scope: !20)
  %v35 = add i32 %v2, %v19, !dbg !DILocation(line: 14, scope: !20)
  %v36 = zext i32 %v13 to i64, !dbg !DILocation(line: 15, scope: !20)
  %v37 = add i64 %v22, %v36, !dbg !DILocation(line: 15, scope: !20)
  %t21 = inttoptr i64 %v22 to ptr, !dbg !DILocation(line: 15, scope: !20)
  %t22 = getelementptr i8, ptr %t21, i64 %v36, !dbg !DILocation(line: 15, scope: !20)
  %v38 = load volatile i64, ptr %t22, align 1, !pcsections !{!"ft", !{i32 5}}, !dbg !DILocation(line: 15, scope: !20)
  %v39 = add i32 %v4, %v19, !dbg !DILocation(line: 16, scope: !20)
  %v40 = zext i32 %v39 to i64, !dbg !DILocation(line: 17, scope: !20)
  %v41 = add i64 %v22, %v40, !dbg !DILocation(line: 17, scope: !20)
  %t23 = inttoptr i64 %v22 to ptr, !dbg !DILocation(line: 17, scope: !20)
  %t24 = getelementptr i8, ptr %t23, i64 %v40, !dbg !DILocation(line: 17, scope: !20)
  %t25 = getelementptr i8, ptr %t24, i64 8, !dbg !DILocation(line: 17, scope: !20)
  %v42 = load volatile i64, ptr %t25, align 1, !pcsections !{!"ft", !{i32 6}}, !dbg !DILocation(line: 17, scope: !20)
  %t26 = call i64 asm "", "=r,0"(i64 %v38) #3, !dbg !DILocation(line: 18, scope: !20)
  %t27 = call i64 asm "", "=r,0"(i64 %v42) #3, !dbg !DILocation(line: 18, scope: !20)
  %v43 = xor i64 %t26, %t27, !dbg !DILocation(line: 18, scope: !20)
  %v44 = zext i32 %v35 to i64, !dbg !DILocation(line: 19, scope: !20)
  %v45 = add i64 %v22, %v44, !dbg !DILocation(line: 19, scope: !20)
  %t28 = inttoptr i64 %v22 to ptr, !dbg !DILocation(line: 19, scope: !20)
  %t29 = getelementptr i8, ptr %t28, i64 %v44, !dbg !DILocation(line: 19, scope: !20)
  %t30 = getelementptr i8, ptr %t29, i64 8, !dbg !DILocation(line: 19, scope: !20)
  store volatile i64 %v43, ptr %t30, align 1, !pcsections !{!"ft", !{i32 7}}, !dbg !DILocation(line: 19, scope: !20)
  %v47 = add i32 %v19, 16, !dbg !DILocation(line: 21, scope: !20)
  %v49 = zext i32 %v47 to i64, !dbg !DILocation(line: 23, scope: !20)
  %t31 = icmp ne i64 %v49, 1600, !dbg !DILocation(line: 23, scope: !20)
  %v51 = zext i1 %t31 to i8, !dbg !DILocation(line: 23, scope: !20)
  %t32 = icmp ne i8 %v51, 0, !dbg !DILocation(line: 24, scope: !20)
  br i1 %t32, label %e33, label %b6, !dbg !DILocation(line: 24, scope: !20)
b4:
  %v56 = add i32 %v10, 1, !dbg !DILocation(line: 26, scope: !20)
  %v58 = zext i32 %v56 to i64, !dbg !DILocation(line: 28, scope: !20)
  %t34 = icmp ne i64 %v58, 10, !dbg !DILocation(line: 28, scope: !20)
  %v60 = zext i1 %t34 to i8, !dbg !DILocation(line: 28, scope: !20)
  %t35 = icmp ne i8 %v60, 0, !dbg !DILocation(line: 29, scope: !20)
  br i1 %t35, label %e36, label %b5, !dbg !DILocation(line: 29, scope: !20)
b5:
  ret void, !dbg !DILocation(line: 30, scope: !20)
b6:
  br label %b4, !dbg !DILocation(line: 31, scope: !20)
b7:
  %v62 = phi i32 [ 0, %e8 ]
  %v64 = add i32 -1584, %v62, !dbg !DILocation(line: 32, scope: !20)
  %v65 = sub i32 0, %v64, !dbg !DILocation(line: 32, scope: !20)
  %v66 = zext i32 %v65 to i64, !dbg !DILocation(line: 32, scope: !20)
  %v68 = and i64 %v66, 15, !dbg !DILocation(line: 32, scope: !20)
  %v69 = sub i64 0, %v68, !dbg !DILocation(line: 32, scope: !20)
  %v71 = lshr i64 %v66, 4, !dbg !DILocation(line: 32, scope: !20)
  %v73 = add i32 0, %v3, !dbg !DILocation(line: 32, scope: !20)
  %v75 = mul i32 %v10, 8, !dbg !DILocation(line: 32, scope: !20)
  %v76 = add i32 %v73, %v75, !dbg !DILocation(line: 32, scope: !20)
  %v77 = zext i32 %v76 to i64, !dbg !DILocation(line: 32, scope: !20)
  %t37 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 33, scope: !20)
  %v78 = load i64, ptr addrspace(258) %t37, align 8, !invariant.load !0, !dbg !DILocation(line: 33, scope: !20)
  %t38 = inttoptr i64 %v78 to ptr addrspace(258), !dbg !DILocation(line: 34, scope: !20)
  %t39 = getelementptr i8, ptr addrspace(258) %t38, i64 8, !dbg !DILocation(line: 34, scope: !20)
  %v79 = load atomic i64, ptr addrspace(258) %t39 unordered, align 8, !dbg !DILocation(line: 34, scope: !20)
  %v81 = add i64 %v77, 8, !dbg !DILocation(line: 34, scope: !20)
  %v82 = sub i64 %v79, %v81, !dbg !DILocation(line: 34, scope: !20)
  %v83 = or i64 %v69, %v82, !dbg !DILocation(line: 34, scope: !20)
  %t40 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 35, scope: !20)
  %v84 = load i64, ptr addrspace(258) %t40, align 8, !invariant.load !0, !dbg !DILocation(line: 35, scope: !20)
  %v86 = add i64 %v77, 0, !dbg !DILocation(line: 36, scope: !20)
  %v87 = add i64 %v84, %v86, !dbg !DILocation(line: 36, scope: !20)
  %v89 = add i64 %v77, 0, !dbg !DILocation(line: 36, scope: !20)
  %v90 = add i64 %v84, %v89, !dbg !DILocation(line: 36, scope: !20)
  %v92 = add i64 %v81, 0, !dbg !DILocation(line: 36, scope: !20)
  %v93 = add i64 %v84, %v92, !dbg !DILocation(line: 36, scope: !20)
  %v95 = add i32 0, %v4, !dbg !DILocation(line: 36, scope: !20)
  %v96 = add i32 %v95, %v62, !dbg !DILocation(line: 36, scope: !20)
  %v97 = zext i32 %v96 to i64, !dbg !DILocation(line: 36, scope: !20)
  %v99 = mul i64 %v71, 16, !dbg !DILocation(line: 36, scope: !20)
  %v100 = add i64 %v97, %v99, !dbg !DILocation(line: 36, scope: !20)
  %t41 = inttoptr i64 %v78 to ptr addrspace(258), !dbg !DILocation(line: 36, scope: !20)
  %t42 = getelementptr i8, ptr addrspace(258) %t41, i64 8, !dbg !DILocation(line: 36, scope: !20)
  %v101 = load atomic i64, ptr addrspace(258) %t42 unordered, align 8, !dbg !DILocation(line: 36, scope: !20)
  %v103 = add i64 %v100, 16, !dbg !DILocation(line: 36, scope: !20)
  %v104 = sub i64 %v101, %v103, !dbg !DILocation(line: 36, scope: !20)
  %v105 = or i64 %v83, %v104, !dbg !DILocation(line: 36, scope: !20)
  %v107 = add i64 %v97, 0, !dbg !DILocation(line: 36, scope: !20)
  %v108 = add i64 %v84, %v107, !dbg !DILocation(line: 36, scope: !20)
  %v110 = add i64 %v97, 0, !dbg !DILocation(line: 36, scope: !20)
  %v111 = add i64 %v84, %v110, !dbg !DILocation(line: 36, scope: !20)
  %v113 = add i64 %v103, 0, !dbg !DILocation(line: 36, scope: !20)
  %v114 = add i64 %v84, %v113, !dbg !DILocation(line: 36, scope: !20)
  %v116 = add i32 0, %v2, !dbg !DILocation(line: 36, scope: !20)
  %v117 = add i32 %v116, %v62, !dbg !DILocation(line: 36, scope: !20)
  %v118 = zext i32 %v117 to i64, !dbg !DILocation(line: 36, scope: !20)
  %v120 = mul i64 %v71, 16, !dbg !DILocation(line: 36, scope: !20)
  %v121 = add i64 %v118, %v120, !dbg !DILocation(line: 36, scope: !20)
  %t43 = inttoptr i64 %v78 to ptr addrspace(258), !dbg !DILocation(line: 36, scope: !20)
  %t44 = getelementptr i8, ptr addrspace(258) %t43, i64 8, !dbg !DILocation(line: 36, scope: !20)
  %v122 = load atomic i64, ptr addrspace(258) %t44 unordered, align 8, !dbg !DILocation(line: 36, scope: !20)
  %v124 = add i64 %v121, 16, !dbg !DILocation(line: 36, scope: !20)
  %v125 = sub i64 %v122, %v124, !dbg !DILocation(line: 36, scope: !20)
  %v126 = or i64 %v105, %v125, !dbg !DILocation(line: 36, scope: !20)
  %v128 = add i64 %v118, 0, !dbg !DILocation(line: 36, scope: !20)
  %v129 = add i64 %v84, %v128, !dbg !DILocation(line: 36, scope: !20)
  %v131 = add i64 %v118, 0, !dbg !DILocation(line: 36, scope: !20)
  %v132 = add i64 %v84, %v131, !dbg !DILocation(line: 36, scope: !20)
  %v134 = add i64 %v124, 0, !dbg !DILocation(line: 36, scope: !20)
  %v135 = add i64 %v84, %v134, !dbg !DILocation(line: 36, scope: !20)
  %v136 = sub i64 %v132, %v93, !dbg !DILocation(line: 36, scope: !20)
  %v137 = sub i64 %v90, %v135, !dbg !DILocation(line: 36, scope: !20)
  %v138 = and i64 %v136, %v137, !dbg !DILocation(line: 36, scope: !20)
  %v139 = or i64 %v126, %v138, !dbg !DILocation(line: 36, scope: !20)
  %v140 = sub i64 %v132, %v114, !dbg !DILocation(line: 36, scope: !20)
  %v141 = sub i64 %v111, %v135, !dbg !DILocation(line: 36, scope: !20)
  %v142 = and i64 %v140, %v141, !dbg !DILocation(line: 36, scope: !20)
  %v143 = or i64 %v139, %v142, !dbg !DILocation(line: 36, scope: !20)
  %t45 = icmp slt i64 %v143, 0, !dbg !DILocation(line: 36, scope: !20)
  %v145 = zext i1 %t45 to i8, !dbg !DILocation(line: 36, scope: !20)
  %t46 = icmp ne i8 %v145, 0, !dbg !DILocation(line: 36, scope: !20)
  br i1 %t46, label %e47, label %b8, !dbg !DILocation(line: 36, scope: !20)
b8:
  %v146 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v143, i64 0, i64 %v84, i64 %v87) #3, !dbg !DILocation(line: 36, scope: !20)
  %v147 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v143, i64 0, i64 %v84, i64 %v108) #3, !dbg !DILocation(line: 36, scope: !20)
  %v148 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v143, i64 0, i64 %v84, i64 %v129) #3, !dbg !DILocation(line: 36, scope: !20)
  %v150 = and i64 %v71, 4294967295, !dbg !DILocation(line: 36, scope: !20)
  %v152 = add i64 %v150, 1, !dbg !DILocation(line: 36, scope: !20)
  %v154 = mul i64 %v152, 2, !dbg !DILocation(line: 36, scope: !20)
  %v156 = add i64 %v154, -1, !dbg !DILocation(line: 36, scope: !20)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 38, scope: !20)
  br label %e48, !dbg !DILocation(line: 38, scope: !20)
b9:
  %v158 = phi i32 [ %v62, %e48 ], [ %v169, %e56 ]
  %v159 = phi i64 [ 0, %e48 ], [ %v172, %e56 ]
  %t49 = inttoptr i64 %v146 to ptr addrspace(258), !dbg !DILocation(line: 39, scope: !20)
  %v160 = load i64, ptr addrspace(258) %t49, align 1, !alias.scope !{!{!"4.0.0", !{!"4.0"}}}, !noalias !{!{!"4.0.2", !{!"4.0"}}}, !dbg !DILocation(line: 39, scope: !20)
  %v163 = mul i64 %v159, 8, !dbg !DILocation(line: 40, scope: !20)
  %v164 = add i64 %v147, %v163, !dbg !DILocation(line: 40, scope: !20)
  %t50 = inttoptr i64 %v147 to ptr addrspace(258), !dbg !DILocation(line: 41, scope: !20)
  %t51 = getelementptr inbounds i8, ptr addrspace(258) %t50, i64 %v163, !dbg !DILocation(line: 41, scope: !20)
  %v161 = load i64, ptr addrspace(258) %t51, align 1, !alias.scope !{!{!"4.0.1", !{!"4.0"}}}, !noalias !{!{!"4.0.2", !{!"4.0"}}}, !dbg !DILocation(line: 41, scope: !20)
  %v165 = xor i64 %v160, %v161, !dbg !DILocation(line: 41, scope: !20)
  %v167 = mul i64 %v159, 8, !dbg !DILocation(line: 42, scope: !20)
  %v168 = add i64 %v148, %v167, !dbg !DILocation(line: 42, scope: !20)
  %t52 = inttoptr i64 %v148 to ptr addrspace(258), !dbg !DILocation(line: 43, scope: !20)
  %t53 = getelementptr inbounds i8, ptr addrspace(258) %t52, i64 %v167, !dbg !DILocation(line: 43, scope: !20)
  store i64 %v165, ptr addrspace(258) %t53, align 1, !alias.scope !{!{!"4.0.2", !{!"4.0"}}}, !noalias !{!{!"4.0.0", !{!"4.0"}}, !{!"4.0.1", !{!"4.0"}}}, !dbg !DILocation(line: 43, scope: !20)
  %v169 = add i32 %v158, 16, !dbg !DILocation(line: 43, scope: !20)
  %t54 = icmp ne i64 %v159, %v156, !dbg !DILocation(line: 44, scope: !20)
  %v170 = zext i1 %t54 to i8, !dbg !DILocation(line: 44, scope: !20)
  %v172 = add i64 %v159, 1, !dbg !DILocation(line: 44, scope: !20)
  %t55 = icmp ne i8 %v170, 0, !dbg !DILocation(line: 45, scope: !20)
  br i1 %t55, label %e56, label %b10, !dbg !DILocation(line: 45, scope: !20)
b10:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 46, scope: !20)
  br label %b6, !dbg !DILocation(line: 46, scope: !20)
e3:
  br label %b2, !dbg !DILocation(line: 2, scope: !20)
e8:
  br label %b7, !dbg !DILocation(line: 7, scope: !20)
e33:
  br label %b3, !dbg !DILocation(line: 24, scope: !20)
e36:
  br label %b2, !dbg !DILocation(line: 29, scope: !20)
e47:
  br label %b3, !dbg !DILocation(line: 36, scope: !20)
e48:
  br label %b9, !dbg !DILocation(line: 38, scope: !20)
e56:
  br label %b9, !dbg !DILocation(line: 45, scope: !20)
}

; guard: function 5
define dso_local void @wf5(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !21 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !21)
  %v5 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !21)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !21)
  %v6 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !21)
  br label %e3, !dbg !DILocation(line: 2, scope: !21)
b2:
  %v9 = phi i32 [ %v27, %e21 ], [ %v32, %e28 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 2, scope: !21)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 2, scope: !21)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !21)
  unreachable
g5:
  %v10 = add i32 %v2, %v9, !dbg !DILocation(line: 3, scope: !21)
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 4, scope: !21)
  %v11 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !21)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 4, scope: !21)
  %v12 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !21)
  %v13 = zext i32 %v10 to i64, !dbg !DILocation(line: 4, scope: !21)
  %v14 = add i64 %v11, %v13, !dbg !DILocation(line: 4, scope: !21)
  %t8 = inttoptr i64 %v11 to ptr, !dbg !DILocation(line: 4, scope: !21)
  %t9 = getelementptr i8, ptr %t8, i64 %v13, !dbg !DILocation(line: 4, scope: !21)
  %v15 = load volatile i64, ptr %t9, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 4, scope: !21)
  %v16 = add i32 %v2, %v9, !dbg !DILocation(line: 5, scope: !21)
  %v17 = zext i32 %v16 to i64, !dbg !DILocation(line: 6, scope: !21)
  %v18 = add i64 %v11, %v17, !dbg !DILocation(line: 6, scope: !21)
  %t10 = inttoptr i64 %v11 to ptr, !dbg !DILocation(line: 6, scope: !21)
  %t11 = getelementptr i8, ptr %t10, i64 %v17, !dbg !DILocation(line: 6, scope: !21)
  %t12 = getelementptr i8, ptr %t11, i64 8, !dbg !DILocation(line: 6, scope: !21)
  %v19 = load volatile i64, ptr %t12, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 6, scope: !21)
  %v20 = add i32 %v2, %v9, !dbg !DILocation(line: 7, scope: !21)
  %v21 = zext i32 %v20 to i64, !dbg !DILocation(line: 8, scope: !21)
  %v22 = add i64 %v11, %v21, !dbg !DILocation(line: 8, scope: !21)
  %t13 = inttoptr i64 %v11 to ptr, !dbg !DILocation(line: 8, scope: !21)
  %t14 = getelementptr i8, ptr %t13, i64 %v21, !dbg !DILocation(line: 8, scope: !21)
  %t15 = getelementptr i8, ptr %t14, i64 8, !dbg !DILocation(line: 8, scope: !21)
  store volatile i64 %v15, ptr %t15, align 1, !pcsections !{!"ft", !{i32 3}}, !dbg !DILocation(line: 8, scope: !21)
  %v23 = add i32 %v2, %v9, !dbg !DILocation(line: 9, scope: !21)
  %v24 = zext i32 %v23 to i64, !dbg !DILocation(line: 10, scope: !21)
  %v25 = add i64 %v11, %v24, !dbg !DILocation(line: 10, scope: !21)
  %t16 = inttoptr i64 %v11 to ptr, !dbg !DILocation(line: 10, scope: !21)
  %t17 = getelementptr i8, ptr %t16, i64 %v24, !dbg !DILocation(line: 10, scope: !21)
  %t18 = getelementptr i8, ptr %t17, i64 16, !dbg !DILocation(line: 10, scope: !21)
  store volatile i64 %v19, ptr %t18, align 1, !pcsections !{!"ft", !{i32 4}}, !dbg !DILocation(line: 10, scope: !21)
  %v27 = add i32 %v9, 16, !dbg !DILocation(line: 12, scope: !21)
  %v29 = zext i32 %v27 to i64, !dbg !DILocation(line: 14, scope: !21)
  %t19 = icmp ne i64 %v29, 1600, !dbg !DILocation(line: 14, scope: !21)
  %v31 = zext i1 %t19 to i8, !dbg !DILocation(line: 14, scope: !21)
  %t20 = icmp ne i8 %v31, 0, !dbg !DILocation(line: 15, scope: !21)
  br i1 %t20, label %e21, label %b4, !dbg !DILocation(line: 15, scope: !21)
b3:
  ret void, !dbg !DILocation(line: 16, scope: !21)
b4:
  br label %b3, !dbg !DILocation(line: 17, scope: !21)
b5:
  %v32 = phi i32 [ %v3, %e3 ]
  %v34 = add i32 -1584, %v32, !dbg !DILocation(line: 18, scope: !21)
  %v35 = sub i32 0, %v34, !dbg !DILocation(line: 18, scope: !21)
  %v36 = zext i32 %v35 to i64, !dbg !DILocation(line: 18, scope: !21)
  %v38 = and i64 %v36, 15, !dbg !DILocation(line: 18, scope: !21)
  %v39 = sub i64 0, %v38, !dbg !DILocation(line: 18, scope: !21)
  %v41 = lshr i64 %v36, 4, !dbg !DILocation(line: 18, scope: !21)
  %v43 = add i32 0, %v2, !dbg !DILocation(line: 18, scope: !21)
  %v44 = add i32 %v43, %v32, !dbg !DILocation(line: 18, scope: !21)
  %v45 = zext i32 %v44 to i64, !dbg !DILocation(line: 18, scope: !21)
  %v47 = mul i64 %v41, 16, !dbg !DILocation(line: 18, scope: !21)
  %v48 = add i64 %v45, %v47, !dbg !DILocation(line: 18, scope: !21)
  %t22 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 19, scope: !21)
  %v49 = load i64, ptr addrspace(258) %t22, align 8, !invariant.load !0, !dbg !DILocation(line: 19, scope: !21)
  %t23 = inttoptr i64 %v49 to ptr addrspace(258), !dbg !DILocation(line: 20, scope: !21)
  %t24 = getelementptr i8, ptr addrspace(258) %t23, i64 8, !dbg !DILocation(line: 20, scope: !21)
  %v50 = load atomic i64, ptr addrspace(258) %t24 unordered, align 8, !dbg !DILocation(line: 20, scope: !21)
  %v52 = add i64 %v48, 24, !dbg !DILocation(line: 20, scope: !21)
  %v53 = sub i64 %v50, %v52, !dbg !DILocation(line: 20, scope: !21)
  %v54 = or i64 %v39, %v53, !dbg !DILocation(line: 20, scope: !21)
  %t25 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 21, scope: !21)
  %v55 = load i64, ptr addrspace(258) %t25, align 8, !invariant.load !0, !dbg !DILocation(line: 21, scope: !21)
  %v57 = add i64 %v45, 0, !dbg !DILocation(line: 22, scope: !21)
  %v58 = add i64 %v55, %v57, !dbg !DILocation(line: 22, scope: !21)
  %v60 = add i64 %v45, 0, !dbg !DILocation(line: 22, scope: !21)
  %v61 = add i64 %v55, %v60, !dbg !DILocation(line: 22, scope: !21)
  %v63 = add i64 %v52, 0, !dbg !DILocation(line: 22, scope: !21)
  %v64 = add i64 %v55, %v63, !dbg !DILocation(line: 22, scope: !21)
  %t26 = icmp slt i64 %v54, 0, !dbg !DILocation(line: 22, scope: !21)
  %v66 = zext i1 %t26 to i8, !dbg !DILocation(line: 22, scope: !21)
  %t27 = icmp ne i8 %v66, 0, !dbg !DILocation(line: 22, scope: !21)
  br i1 %t27, label %e28, label %b6, !dbg !DILocation(line: 22, scope: !21)
b6:
  %v67 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v54, i64 0, i64 %v55, i64 %v58) #3, !dbg !DILocation(line: 22, scope: !21)
  %v69 = and i64 %v41, 4294967295, !dbg !DILocation(line: 22, scope: !21)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 24, scope: !21)
  br label %e29, !dbg !DILocation(line: 24, scope: !21)
b7:
  %v71 = phi i32 [ %v32, %e29 ], [ %v87, %e43 ]
  %v72 = phi i64 [ 0, %e29 ], [ %v90, %e43 ]
  %v75 = mul i64 %v72, 16, !dbg !DILocation(line: 25, scope: !21)
  %v76 = add i64 %v67, %v75, !dbg !DILocation(line: 25, scope: !21)
  %t30 = inttoptr i64 %v67 to ptr addrspace(258), !dbg !DILocation(line: 26, scope: !21)
  %t31 = getelementptr inbounds i8, ptr addrspace(258) %t30, i64 %v75, !dbg !DILocation(line: 26, scope: !21)
  %v73 = load i64, ptr addrspace(258) %t31, align 1, !dbg !DILocation(line: 26, scope: !21)
  %v79 = mul i64 %v72, 16, !dbg !DILocation(line: 27, scope: !21)
  %v80 = add i64 %v67, %v79, !dbg !DILocation(line: 27, scope: !21)
  %t32 = inttoptr i64 %v67 to ptr addrspace(258), !dbg !DILocation(line: 28, scope: !21)
  %t33 = getelementptr inbounds i8, ptr addrspace(258) %t32, i64 %v79, !dbg !DILocation(line: 28, scope: !21)
  %t34 = getelementptr inbounds i8, ptr addrspace(258) %t33, i64 8, !dbg !DILocation(line: 28, scope: !21)
  %v77 = load i64, ptr addrspace(258) %t34, align 1, !dbg !DILocation(line: 28, scope: !21)
  %v82 = mul i64 %v72, 16, !dbg !DILocation(line: 29, scope: !21)
  %v83 = add i64 %v67, %v82, !dbg !DILocation(line: 29, scope: !21)
  %t35 = inttoptr i64 %v67 to ptr addrspace(258), !dbg !DILocation(line: 30, scope: !21)
  %t36 = getelementptr inbounds i8, ptr addrspace(258) %t35, i64 %v82, !dbg !DILocation(line: 30, scope: !21)
  %t37 = getelementptr inbounds i8, ptr addrspace(258) %t36, i64 8, !dbg !DILocation(line: 30, scope: !21)
  store i64 %v73, ptr addrspace(258) %t37, align 1, !dbg !DILocation(line: 30, scope: !21)
  %v85 = mul i64 %v72, 16, !dbg !DILocation(line: 31, scope: !21)
  %v86 = add i64 %v67, %v85, !dbg !DILocation(line: 31, scope: !21)
  %t38 = inttoptr i64 %v67 to ptr addrspace(258), !dbg !DILocation(line: 32, scope: !21)
  %t39 = getelementptr inbounds i8, ptr addrspace(258) %t38, i64 %v85, !dbg !DILocation(line: 32, scope: !21)
  %t40 = getelementptr inbounds i8, ptr addrspace(258) %t39, i64 16, !dbg !DILocation(line: 32, scope: !21)
  store i64 %v77, ptr addrspace(258) %t40, align 1, !dbg !DILocation(line: 32, scope: !21)
  %v87 = add i32 %v71, 16, !dbg !DILocation(line: 32, scope: !21)
  %t41 = icmp ne i64 %v72, %v69, !dbg !DILocation(line: 33, scope: !21)
  %v88 = zext i1 %t41 to i8, !dbg !DILocation(line: 33, scope: !21)
  %v90 = add i64 %v72, 1, !dbg !DILocation(line: 33, scope: !21)
  %t42 = icmp ne i8 %v88, 0, !dbg !DILocation(line: 34, scope: !21)
  br i1 %t42, label %e43, label %b8, !dbg !DILocation(line: 34, scope: !21)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 35, scope: !21)
  br label %b4, !dbg !DILocation(line: 35, scope: !21)
e3:
  br label %b5, !dbg !DILocation(line: 2, scope: !21)
e21:
  br label %b2, !dbg !DILocation(line: 15, scope: !21)
e28:
  br label %b2, !dbg !DILocation(line: 22, scope: !21)
e29:
  br label %b7, !dbg !DILocation(line: 24, scope: !21)
e43:
  br label %b7, !dbg !DILocation(line: 34, scope: !21)
}

; guard: function 6
define dso_local void @wf6(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !22 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !22)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !22)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !22)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !22)
  br label %e3, !dbg !DILocation(line: 1, scope: !22)
b2:
  %v7 = phi i32 [ %v2, %e3 ], [ %v22, %e17 ]
  %v23 = phi i32 [ %v3, %e3 ], [ %v25, %e17 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 1, scope: !22)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 1, scope: !22)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf6, 6, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !22)
  unreachable
g5:
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 3, scope: !22)
  %v9 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !22)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 3, scope: !22)
  %v10 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !22)
  %v11 = zext i32 %v7 to i64, !dbg !DILocation(line: 3, scope: !22)
  %v12 = add i64 %v9, %v11, !dbg !DILocation(line: 3, scope: !22)
  %t8 = inttoptr i64 %v9 to ptr, !dbg !DILocation(line: 3, scope: !22)
  %t9 = getelementptr i8, ptr %t8, i64 %v11, !dbg !DILocation(line: 3, scope: !22)
  store volatile i32 0, ptr %t9, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 3, scope: !22)
  %v14 = zext i32 1 to i64, !dbg !DILocation(line: 5, scope: !22)
  %t10 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 5, scope: !22)
  %v16 = load i64, ptr addrspace(258) %t10, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !22)
  %t11 = inttoptr i64 %v16 to ptr addrspace(258), !dbg !DILocation(line: 5, scope: !22)
  %v17 = load i64, ptr addrspace(258) %t11, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !22)
  %t12 = inttoptr i64 %v17 to ptr, !dbg !DILocation(line: 5, scope: !22)
  %v18 = call i64 %t12(i64 %v0, i32 0, i64 %v14) #1, !dbg !DILocation(line: 5, scope: !22)
  %t13 = icmp slt i64 %v18, -1, !dbg !DILocation(line: 5, scope: !22)
  %v20 = zext i1 %t13 to i8, !dbg !DILocation(line: 5, scope: !22)
  %t14 = icmp ne i8 %v20, 0, !dbg !DILocation(line: 5, scope: !22)
  br i1 %t14, label %x15, label %g15, !prof !1, !dbg !DILocation(line: 5, scope: !22)
x15:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf6, 6, 2\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 5, scope: !22)
  unreachable
g15:
  %v21 = trunc i64 %v18 to i32, !dbg !DILocation(line: 5, scope: !22)
  %v22 = add i32 %v7, %v21, !dbg !DILocation(line: 6, scope: !22)
  %v25 = sub i32 %v23, 1, !dbg !DILocation(line: 8, scope: !22)
  %t16 = icmp ne i32 %v25, 0, !dbg !DILocation(line: 9, scope: !22)
  br i1 %t16, label %e17, label %b3, !dbg !DILocation(line: 9, scope: !22)
b3:
  ret void, !dbg !DILocation(line: 10, scope: !22)
e3:
  br label %b2, !dbg !DILocation(line: 1, scope: !22)
e17:
  br label %b2, !dbg !DILocation(line: 9, scope: !22)
}

; guard: function 7
define dso_local i32 @wf7(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !23 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = bitcast i64 0 to double, !dbg !DILocation(line: 1, scope: !23)
  %v5 = call double asm "", "=x,0"(double %t1) #3, !dbg !DILocation(line: 1, scope: !23)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !23)
  %v8 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !23)
  %t3 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !23)
  %v9 = load i64, ptr addrspace(258) %t3, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !23)
  %t4 = call double asm "", "=x,0"(double %v5) #3, !dbg !DILocation(line: 2, scope: !23)
  br label %e5, !dbg !DILocation(line: 2, scope: !23)
b2:
  %v12 = phi i32 [ 0, %e5 ], [ %v28, %e17 ]
  %v21 = phi double [ %t4, %e5 ], [ %v24, %e17 ]
  %v25 = phi i32 [ 0, %e5 ], [ %v26, %e17 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 2, scope: !23)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 2, scope: !23)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf7, 7, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !23)
  unreachable
g7:
  %v14 = shl i32 %v12, 3, !dbg !DILocation(line: 4, scope: !23)
  %v15 = add i32 %v2, %v14, !dbg !DILocation(line: 5, scope: !23)
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 6, scope: !23)
  %v16 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !23)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 6, scope: !23)
  %v17 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !23)
  %v18 = zext i32 %v15 to i64, !dbg !DILocation(line: 6, scope: !23)
  %v19 = add i64 %v16, %v18, !dbg !DILocation(line: 6, scope: !23)
  %t10 = inttoptr i64 %v16 to ptr, !dbg !DILocation(line: 6, scope: !23)
  %t11 = getelementptr i8, ptr %t10, i64 %v18, !dbg !DILocation(line: 6, scope: !23)
  %v20 = load volatile double, ptr %t11, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 6, scope: !23)
  %t12 = fcmp olt double %v20, %v21, !dbg !DILocation(line: 7, scope: !23)
  %v22 = zext i1 %t12 to i8, !dbg !DILocation(line: 7, scope: !23)
  %v23 = zext i8 %v22 to i32, !dbg !DILocation(line: 8, scope: !23)
  %t13 = icmp ne i32 %v23, 0, !dbg !DILocation(line: 9, scope: !23)
  %v24 = select i1 %t13, double %v20, double %v21, !dbg !DILocation(line: 9, scope: !23)
  %t14 = icmp ne i32 %v23, 0, !dbg !DILocation(line: 10, scope: !23)
  %v26 = select i1 %t14, i32 %v12, i32 %v25, !dbg !DILocation(line: 10, scope: !23)
  %v28 = add i32 %v12, 1, !dbg !DILocation(line: 12, scope: !23)
  %t15 = icmp slt i32 %v28, %v3, !dbg !DILocation(line: 13, scope: !23)
  %v30 = zext i1 %t15 to i8, !dbg !DILocation(line: 13, scope: !23)
  %t16 = icmp ne i8 %v30, 0, !dbg !DILocation(line: 14, scope: !23)
  br i1 %t16, label %e17, label %b3, !dbg !DILocation(line: 14, scope: !23)
b3:
  ret i32 %v26, !dbg !DILocation(line: 15, scope: !23)
e5:
  br label %b2, !dbg !DILocation(line: 2, scope: !23)
e17:
  br label %b2, !dbg !DILocation(line: 14, scope: !23)
}

; guard: function 8
define dso_local i32 @wf8(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !24 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !24)
  %v6 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !24)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !24)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !24)
  br label %e3, !dbg !DILocation(line: 2, scope: !24)
b2:
  %v10 = phi i32 [ 0, %e3 ], [ %v27, %e17 ]
  %v19 = phi i32 [ 0, %e3 ], [ %v32, %e17 ]
  %v23 = phi i32 [ 0, %e3 ], [ %v33, %e17 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 2, scope: !24)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 2, scope: !24)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf8, 8, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !24)
  unreachable
g5:
  %v12 = shl i32 %v10, 2, !dbg !DILocation(line: 4, scope: !24)
  %v13 = add i32 %v2, %v12, !dbg !DILocation(line: 5, scope: !24)
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 6, scope: !24)
  %v14 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !24)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 6, scope: !24)
  %v15 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !24)
  %v16 = zext i32 %v13 to i64, !dbg !DILocation(line: 6, scope: !24)
  %v17 = add i64 %v14, %v16, !dbg !DILocation(line: 6, scope: !24)
  %t8 = inttoptr i64 %v14 to ptr, !dbg !DILocation(line: 6, scope: !24)
  %t9 = getelementptr i8, ptr %t8, i64 %v16, !dbg !DILocation(line: 6, scope: !24)
  %v18 = load volatile i32, ptr %t9, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 6, scope: !24)
  %t10 = call i32 asm "", "=r,0"(i32 %v18) #3, !dbg !DILocation(line: 7, scope: !24)
  %v20 = add i32 %t10, %v19, !dbg !DILocation(line: 7, scope: !24)
  %t11 = icmp slt i32 %v20, 9, !dbg !DILocation(line: 9, scope: !24)
  %v22 = zext i1 %t11 to i8, !dbg !DILocation(line: 9, scope: !24)
  %t12 = icmp ne i8 %v22, 0, !dbg !DILocation(line: 10, scope: !24)
  br i1 %t12, label %b4, label %e13, !dbg !DILocation(line: 10, scope: !24)
b4:
  %v24 = xor i32 %v20, %v23, !dbg !DILocation(line: 11, scope: !24)
  br label %e14, !dbg !DILocation(line: 12, scope: !24)
b3:
  %v32 = phi i32 [ %v19, %e13 ], [ %v20, %e14 ]
  %v33 = phi i32 [ %v23, %e13 ], [ %v24, %e14 ]
  %v27 = add i32 %v10, 1, !dbg !DILocation(line: 14, scope: !24)
  %t15 = icmp slt i32 %v27, %v3, !dbg !DILocation(line: 15, scope: !24)
  %v30 = zext i1 %t15 to i8, !dbg !DILocation(line: 15, scope: !24)
  %t16 = icmp ne i8 %v30, 0, !dbg !DILocation(line: 16, scope: !24)
  br i1 %t16, label %e17, label %b6, !dbg !DILocation(line: 16, scope: !24)
b6:
  ret i32 %v33, !dbg !DILocation(line: 17, scope: !24)
e3:
  br label %b2, !dbg !DILocation(line: 2, scope: !24)
e13:
  br label %b3, !dbg !DILocation(line: 10, scope: !24)
e14:
  br label %b3, !dbg !DILocation(line: 12, scope: !24)
e17:
  br label %b2, !dbg !DILocation(line: 16, scope: !24)
}

; guard: function 9
define dso_local i32 @wf9(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !25 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !25)
  %v6 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !25)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !25)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !25)
  br label %e3, !dbg !DILocation(line: 2, scope: !25)
b2:
  %v10 = phi i32 [ %v23, %e15 ], [ %v27, %e23 ]
  %v19 = phi i32 [ %v21, %e15 ], [ %v28, %e23 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 2, scope: !25)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 2, scope: !25)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf9, 9, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !25)
  unreachable
g5:
  %v12 = shl i32 %v10, 2, !dbg !DILocation(line: 4, scope: !25)
  %v13 = add i32 %v2, %v12, !dbg !DILocation(line: 5, scope: !25)
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 6, scope: !25)
  %v14 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !25)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 6, scope: !25)
  %v15 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !25)
  %v16 = zext i32 %v13 to i64, !dbg !DILocation(line: 6, scope: !25)
  %v17 = add i64 %v14, %v16, !dbg !DILocation(line: 6, scope: !25)
  %t8 = inttoptr i64 %v14 to ptr, !dbg !DILocation(line: 6, scope: !25)
  %t9 = getelementptr i8, ptr %t8, i64 %v16, !dbg !DILocation(line: 6, scope: !25)
  %v18 = load volatile i32, ptr %t9, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 6, scope: !25)
  %t10 = icmp slt i32 %v18, %v19, !dbg !DILocation(line: 7, scope: !25)
  %v20 = zext i1 %t10 to i8, !dbg !DILocation(line: 7, scope: !25)
  %t11 = icmp ne i8 %v20, 0, !dbg !DILocation(line: 8, scope: !25)
  %t12 = call i32 asm "", "=r,0"(i32 %v18) #3, !dbg !DILocation(line: 8, scope: !25)
  %v21 = select i1 %t11, i32 %t12, i32 %v19, !dbg !DILocation(line: 8, scope: !25)
  %v23 = add i32 %v10, 1, !dbg !DILocation(line: 10, scope: !25)
  %t13 = icmp slt i32 %v23, %v3, !dbg !DILocation(line: 11, scope: !25)
  %v25 = zext i1 %t13 to i8, !dbg !DILocation(line: 11, scope: !25)
  %t14 = icmp ne i8 %v25, 0, !dbg !DILocation(line: 12, scope: !25)
  br i1 %t14, label %e15, label %e16, !dbg !DILocation(line: 12, scope: !25)
b3:
  ret i32 %v26, !dbg !DILocation(line: 13, scope: !25)
b4:
  %v26 = phi i32 [ %v21, %e16 ], [ %v83, %e32 ]
  br label %b3, !dbg !DILocation(line: 14, scope: !25)
b5:
  %v27 = phi i32 [ 0, %e3 ]
  %v28 = phi i32 [ 0, %e3 ]
  %v30 = add i32 1, %v27, !dbg !DILocation(line: 15, scope: !25)
  %v31 = sext i32 %v30 to i64, !dbg !DILocation(line: 15, scope: !25)
  %v33 = add i32 0, %v3, !dbg !DILocation(line: 15, scope: !25)
  %v34 = sext i32 %v33 to i64, !dbg !DILocation(line: 15, scope: !25)
  %v36 = sub i64 %v34, %v31, !dbg !DILocation(line: 15, scope: !25)
  %v37 = sub i64 2147483647, %v34, !dbg !DILocation(line: 15, scope: !25)
  %v39 = add i64 %v36, 0, !dbg !DILocation(line: 15, scope: !25)
  %v41 = call i64 @llvm.smax.i64(i64 %v39, i64 0), !dbg !DILocation(line: 15, scope: !25)
  %v43 = lshr i64 %v41, 0, !dbg !DILocation(line: 15, scope: !25)
  %v45 = add i32 0, %v2, !dbg !DILocation(line: 15, scope: !25)
  %v47 = mul i32 %v27, 4, !dbg !DILocation(line: 15, scope: !25)
  %v48 = add i32 %v45, %v47, !dbg !DILocation(line: 15, scope: !25)
  %v49 = zext i32 %v48 to i64, !dbg !DILocation(line: 15, scope: !25)
  %v51 = mul i64 %v43, 4, !dbg !DILocation(line: 15, scope: !25)
  %v52 = add i64 %v49, %v51, !dbg !DILocation(line: 15, scope: !25)
  %t17 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 16, scope: !25)
  %v53 = load i64, ptr addrspace(258) %t17, align 8, !invariant.load !0, !dbg !DILocation(line: 16, scope: !25)
  %t18 = inttoptr i64 %v53 to ptr addrspace(258), !dbg !DILocation(line: 17, scope: !25)
  %t19 = getelementptr i8, ptr addrspace(258) %t18, i64 8, !dbg !DILocation(line: 17, scope: !25)
  %v54 = load atomic i64, ptr addrspace(258) %t19 unordered, align 8, !dbg !DILocation(line: 17, scope: !25)
  %v56 = add i64 %v52, 4, !dbg !DILocation(line: 17, scope: !25)
  %v57 = sub i64 %v54, %v56, !dbg !DILocation(line: 17, scope: !25)
  %v58 = or i64 %v37, %v57, !dbg !DILocation(line: 17, scope: !25)
  %t20 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 18, scope: !25)
  %v59 = load i64, ptr addrspace(258) %t20, align 8, !invariant.load !0, !dbg !DILocation(line: 18, scope: !25)
  %v61 = add i64 %v49, 0, !dbg !DILocation(line: 19, scope: !25)
  %v62 = add i64 %v59, %v61, !dbg !DILocation(line: 19, scope: !25)
  %v64 = add i64 %v49, 0, !dbg !DILocation(line: 19, scope: !25)
  %v65 = add i64 %v59, %v64, !dbg !DILocation(line: 19, scope: !25)
  %v67 = add i64 %v56, 0, !dbg !DILocation(line: 19, scope: !25)
  %v68 = add i64 %v59, %v67, !dbg !DILocation(line: 19, scope: !25)
  %t21 = icmp slt i64 %v58, 0, !dbg !DILocation(line: 19, scope: !25)
  %v70 = zext i1 %t21 to i8, !dbg !DILocation(line: 19, scope: !25)
  %t22 = icmp ne i8 %v70, 0, !dbg !DILocation(line: 19, scope: !25)
  br i1 %t22, label %e23, label %b6, !dbg !DILocation(line: 19, scope: !25)
b6:
  %v71 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v58, i64 0, i64 %v59, i64 %v62) #3, !dbg !DILocation(line: 19, scope: !25)
  %v73 = and i64 %v43, 4294967295, !dbg !DILocation(line: 19, scope: !25)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 21, scope: !25)
  br label %e24, !dbg !DILocation(line: 21, scope: !25)
b7:
  %v75 = phi i32 [ %v27, %e24 ], [ %v84, %e31 ]
  %v76 = phi i32 [ %v28, %e24 ], [ %v83, %e31 ]
  %v77 = phi i64 [ 0, %e24 ], [ %v87, %e31 ]
  %v80 = mul i64 %v77, 4, !dbg !DILocation(line: 22, scope: !25)
  %v81 = add i64 %v71, %v80, !dbg !DILocation(line: 22, scope: !25)
  %t25 = inttoptr i64 %v71 to ptr addrspace(258), !dbg !DILocation(line: 23, scope: !25)
  %t26 = getelementptr inbounds i8, ptr addrspace(258) %t25, i64 %v80, !dbg !DILocation(line: 23, scope: !25)
  %v78 = load i32, ptr addrspace(258) %t26, align 1, !dbg !DILocation(line: 23, scope: !25)
  %t27 = icmp slt i32 %v78, %v76, !dbg !DILocation(line: 23, scope: !25)
  %v82 = zext i1 %t27 to i8, !dbg !DILocation(line: 23, scope: !25)
  %t28 = icmp ne i8 %v82, 0, !dbg !DILocation(line: 23, scope: !25)
  %v83 = select i1 %t28, i32 %v78, i32 %v76, !dbg !DILocation(line: 23, scope: !25)
  %v84 = add i32 %v75, 1, !dbg !DILocation(line: 23, scope: !25)
  %t29 = icmp ne i64 %v77, %v73, !dbg !DILocation(line: 24, scope: !25)
  %v85 = zext i1 %t29 to i8, !dbg !DILocation(line: 24, scope: !25)
  %v87 = add i64 %v77, 1, !dbg !DILocation(line: 24, scope: !25)
  %t30 = icmp ne i8 %v85, 0, !dbg !DILocation(line: 25, scope: !25)
  br i1 %t30, label %e31, label %b8, !dbg !DILocation(line: 25, scope: !25)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 26, scope: !25)
  br label %e32, !dbg !DILocation(line: 26, scope: !25)
e3:
  br label %b5, !dbg !DILocation(line: 2, scope: !25)
e15:
  br label %b2, !dbg !DILocation(line: 12, scope: !25)
e16:
  br label %b4, !dbg !DILocation(line: 12, scope: !25)
e23:
  br label %b2, !dbg !DILocation(line: 19, scope: !25)
e24:
  br label %b7, !dbg !DILocation(line: 21, scope: !25)
e31:
  br label %b7, !dbg !DILocation(line: 25, scope: !25)
e32:
  br label %b4, !dbg !DILocation(line: 26, scope: !25)
}

; guard: function 10
define dso_local void @wf10(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3, i32 %v4) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !26 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = bitcast i64 0 to double, !dbg !DILocation(line: 1, scope: !26)
  %v6 = call double asm "", "=x,0"(double %t1) #3, !dbg !DILocation(line: 1, scope: !26)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !26)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !26)
  %t3 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !26)
  %v8 = load i64, ptr addrspace(258) %t3, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !26)
  br label %e4, !dbg !DILocation(line: 2, scope: !26)
b2:
  %v10 = phi double [ %v21, %e15 ], [ %v29, %e24 ]
  %v12 = phi i32 [ %v26, %e15 ], [ %v30, %e24 ]
  %t5 = icmp ne i32 0, 0, !dbg !DILocation(line: 2, scope: !26)
  br i1 %t5, label %x6, label %g6, !prof !1, !dbg !DILocation(line: 2, scope: !26)
x6:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf10, 10, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 2, scope: !26)
  unreachable
g6:
  %v14 = shl i32 %v12, 3, !dbg !DILocation(line: 4, scope: !26)
  %v15 = add i32 %v2, %v14, !dbg !DILocation(line: 5, scope: !26)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 6, scope: !26)
  %v16 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !26)
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 6, scope: !26)
  %v17 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !26)
  %v18 = zext i32 %v15 to i64, !dbg !DILocation(line: 6, scope: !26)
  %v19 = add i64 %v16, %v18, !dbg !DILocation(line: 6, scope: !26)
  %t9 = inttoptr i64 %v16 to ptr, !dbg !DILocation(line: 6, scope: !26)
  %t10 = getelementptr i8, ptr %t9, i64 %v18, !dbg !DILocation(line: 6, scope: !26)
  %v20 = load volatile double, ptr %t10, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 6, scope: !26)
  %v21 = fadd double %v10, %v20, !dbg !DILocation(line: 7, scope: !26)
  %v23 = zext i32 %v4 to i64, !dbg !DILocation(line: 8, scope: !26)
  %v24 = add i64 %v16, %v23, !dbg !DILocation(line: 8, scope: !26)
  %t11 = inttoptr i64 %v16 to ptr, !dbg !DILocation(line: 8, scope: !26)
  %t12 = getelementptr i8, ptr %t11, i64 %v23, !dbg !DILocation(line: 8, scope: !26)
  store volatile double %v21, ptr %t12, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 8, scope: !26)
  %v26 = add i32 %v12, 1, !dbg !DILocation(line: 10, scope: !26)
  %t13 = icmp slt i32 %v26, %v3, !dbg !DILocation(line: 11, scope: !26)
  %v28 = zext i1 %t13 to i8, !dbg !DILocation(line: 11, scope: !26)
  %t14 = icmp ne i8 %v28, 0, !dbg !DILocation(line: 12, scope: !26)
  br i1 %t14, label %e15, label %b4, !dbg !DILocation(line: 12, scope: !26)
b3:
  ret void, !dbg !DILocation(line: 13, scope: !26)
b4:
  br label %b3, !dbg !DILocation(line: 14, scope: !26)
b5:
  %v29 = phi double [ %v6, %e4 ]
  %v30 = phi i32 [ 0, %e4 ]
  %v32 = add i32 1, %v30, !dbg !DILocation(line: 15, scope: !26)
  %v33 = sext i32 %v32 to i64, !dbg !DILocation(line: 15, scope: !26)
  %v35 = add i32 0, %v3, !dbg !DILocation(line: 15, scope: !26)
  %v36 = sext i32 %v35 to i64, !dbg !DILocation(line: 15, scope: !26)
  %v38 = sub i64 %v36, %v33, !dbg !DILocation(line: 15, scope: !26)
  %v39 = sub i64 2147483647, %v36, !dbg !DILocation(line: 15, scope: !26)
  %v41 = add i64 %v38, 0, !dbg !DILocation(line: 15, scope: !26)
  %v43 = call i64 @llvm.smax.i64(i64 %v41, i64 0), !dbg !DILocation(line: 15, scope: !26)
  %v45 = lshr i64 %v43, 0, !dbg !DILocation(line: 15, scope: !26)
  %v47 = add i32 0, %v2, !dbg !DILocation(line: 15, scope: !26)
  %v49 = mul i32 %v30, 8, !dbg !DILocation(line: 15, scope: !26)
  %v50 = add i32 %v47, %v49, !dbg !DILocation(line: 15, scope: !26)
  %v51 = zext i32 %v50 to i64, !dbg !DILocation(line: 15, scope: !26)
  %v53 = mul i64 %v45, 8, !dbg !DILocation(line: 15, scope: !26)
  %v54 = add i64 %v51, %v53, !dbg !DILocation(line: 15, scope: !26)
  %t16 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 16, scope: !26)
  %v55 = load i64, ptr addrspace(258) %t16, align 8, !invariant.load !0, !dbg !DILocation(line: 16, scope: !26)
  %t17 = inttoptr i64 %v55 to ptr addrspace(258), !dbg !DILocation(line: 17, scope: !26)
  %t18 = getelementptr i8, ptr addrspace(258) %t17, i64 8, !dbg !DILocation(line: 17, scope: !26)
  %v56 = load atomic i64, ptr addrspace(258) %t18 unordered, align 8, !dbg !DILocation(line: 17, scope: !26)
  %v58 = add i64 %v54, 8, !dbg !DILocation(line: 17, scope: !26)
  %v59 = sub i64 %v56, %v58, !dbg !DILocation(line: 17, scope: !26)
  %v60 = or i64 %v39, %v59, !dbg !DILocation(line: 17, scope: !26)
  %t19 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 18, scope: !26)
  %v61 = load i64, ptr addrspace(258) %t19, align 8, !invariant.load !0, !dbg !DILocation(line: 18, scope: !26)
  %v63 = add i64 %v51, 0, !dbg !DILocation(line: 19, scope: !26)
  %v64 = add i64 %v61, %v63, !dbg !DILocation(line: 19, scope: !26)
  %v66 = add i64 %v51, 0, !dbg !DILocation(line: 19, scope: !26)
  %v67 = add i64 %v61, %v66, !dbg !DILocation(line: 19, scope: !26)
  %v69 = add i64 %v58, 0, !dbg !DILocation(line: 19, scope: !26)
  %v70 = add i64 %v61, %v69, !dbg !DILocation(line: 19, scope: !26)
  %v72 = add i32 0, %v4, !dbg !DILocation(line: 19, scope: !26)
  %v73 = zext i32 %v72 to i64, !dbg !DILocation(line: 19, scope: !26)
  %t20 = inttoptr i64 %v55 to ptr addrspace(258), !dbg !DILocation(line: 19, scope: !26)
  %t21 = getelementptr i8, ptr addrspace(258) %t20, i64 8, !dbg !DILocation(line: 19, scope: !26)
  %v74 = load atomic i64, ptr addrspace(258) %t21 unordered, align 8, !dbg !DILocation(line: 19, scope: !26)
  %v76 = add i64 %v73, 8, !dbg !DILocation(line: 19, scope: !26)
  %v77 = sub i64 %v74, %v76, !dbg !DILocation(line: 19, scope: !26)
  %v78 = or i64 %v60, %v77, !dbg !DILocation(line: 19, scope: !26)
  %v80 = add i64 %v73, 0, !dbg !DILocation(line: 19, scope: !26)
  %v81 = add i64 %v61, %v80, !dbg !DILocation(line: 19, scope: !26)
  %v83 = add i64 %v73, 0, !dbg !DILocation(line: 19, scope: !26)
  %v84 = add i64 %v61, %v83, !dbg !DILocation(line: 19, scope: !26)
  %v86 = add i64 %v76, 0, !dbg !DILocation(line: 19, scope: !26)
  %v87 = add i64 %v61, %v86, !dbg !DILocation(line: 19, scope: !26)
  %v88 = sub i64 %v84, %v70, !dbg !DILocation(line: 19, scope: !26)
  %v89 = sub i64 %v67, %v87, !dbg !DILocation(line: 19, scope: !26)
  %v90 = and i64 %v88, %v89, !dbg !DILocation(line: 19, scope: !26)
  %v91 = or i64 %v78, %v90, !dbg !DILocation(line: 19, scope: !26)
  %t22 = icmp slt i64 %v91, 0, !dbg !DILocation(line: 19, scope: !26)
  %v93 = zext i1 %t22 to i8, !dbg !DILocation(line: 19, scope: !26)
  %t23 = icmp ne i8 %v93, 0, !dbg !DILocation(line: 19, scope: !26)
  br i1 %t23, label %e24, label %b6, !dbg !DILocation(line: 19, scope: !26)
b6:
  %v94 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v91, i64 0, i64 %v61, i64 %v64) #3, !dbg !DILocation(line: 19, scope: !26)
  %v95 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v91, i64 0, i64 %v61, i64 %v81) #3, !dbg !DILocation(line: 19, scope: !26)
  %v97 = and i64 %v45, 4294967295, !dbg !DILocation(line: 19, scope: !26)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 21, scope: !26)
  br label %e25, !dbg !DILocation(line: 21, scope: !26)
b7:
  %v99 = phi double [ %v29, %e25 ], [ %v106, %e31 ]
  %v100 = phi i32 [ %v30, %e25 ], [ %v107, %e31 ]
  %v101 = phi i64 [ 0, %e25 ], [ %v110, %e31 ]
  %v104 = mul i64 %v101, 8, !dbg !DILocation(line: 22, scope: !26)
  %v105 = add i64 %v94, %v104, !dbg !DILocation(line: 22, scope: !26)
  %t26 = inttoptr i64 %v94 to ptr addrspace(258), !dbg !DILocation(line: 23, scope: !26)
  %t27 = getelementptr inbounds i8, ptr addrspace(258) %t26, i64 %v104, !dbg !DILocation(line: 23, scope: !26)
  %v102 = load double, ptr addrspace(258) %t27, align 1, !alias.scope !{!{!"10.0.0", !{!"10.0"}}}, !noalias !{!{!"10.0.1", !{!"10.0"}}}, !dbg !DILocation(line: 23, scope: !26)
  %v106 = fadd double %v99, %v102, !dbg !DILocation(line: 23, scope: !26)
  %t28 = inttoptr i64 %v95 to ptr addrspace(258), !dbg !DILocation(line: 23, scope: !26)
  store double %v106, ptr addrspace(258) %t28, align 1, !alias.scope !{!{!"10.0.1", !{!"10.0"}}}, !noalias !{!{!"10.0.0", !{!"10.0"}}}, !dbg !DILocation(line: 23, scope: !26)
  %v107 = add i32 %v100, 1, !dbg !DILocation(line: 23, scope: !26)
  %t29 = icmp ne i64 %v101, %v97, !dbg !DILocation(line: 24, scope: !26)
  %v108 = zext i1 %t29 to i8, !dbg !DILocation(line: 24, scope: !26)
  %v110 = add i64 %v101, 1, !dbg !DILocation(line: 24, scope: !26)
  %t30 = icmp ne i8 %v108, 0, !dbg !DILocation(line: 25, scope: !26)
  br i1 %t30, label %e31, label %b8, !dbg !DILocation(line: 25, scope: !26)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 26, scope: !26)
  br label %b4, !dbg !DILocation(line: 26, scope: !26)
e4:
  br label %b5, !dbg !DILocation(line: 2, scope: !26)
e15:
  br label %b2, !dbg !DILocation(line: 12, scope: !26)
e24:
  br label %b2, !dbg !DILocation(line: 19, scope: !26)
e25:
  br label %b7, !dbg !DILocation(line: 21, scope: !26)
e31:
  br label %b7, !dbg !DILocation(line: 25, scope: !26)
}

; trap: function 0
define dso_local void @wf0(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3, i32 %v4, i32 %v5) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !16 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !16)
  %v7 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !16)
  %v8 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t3 = inttoptr i64 %v8 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !16)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 3, scope: !16)
  %v9 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 3, scope: !16)
  br label %e5, !dbg !DILocation(line: 4, scope: !16)
b2:
  %v12 = phi i32 [ %v42, %e34 ], [ %v45, %e45 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 4, scope: !16)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 4, scope: !16)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !16)
  unreachable
g7:
  %v14 = shl i32 %v12, 3, !dbg !DILocation(line: 6, scope: !16)
  %v15 = add i32 %v4, %v14, !dbg !DILocation(line: 7, scope: !16)
  %v18 = shl i32 %v12, 3, !dbg !DILocation(line: 9, scope: !16)
  %v19 = add i32 %v2, %v18, !dbg !DILocation(line: 10, scope: !16)
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 11, scope: !16)
  %v20 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 11, scope: !16)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 11, scope: !16)
  %v21 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 11, scope: !16)
  %v22 = zext i32 %v19 to i64, !dbg !DILocation(line: 11, scope: !16)
  %t10 = inttoptr i64 %v21 to ptr addrspace(258), !dbg !DILocation(line: 12, scope: !16)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 12, scope: !16)
  %v23 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 12, scope: !16)
  %t12 = icmp uge i64 %v22, %v23, !dbg !DILocation(line: 12, scope: !16)
  %v24 = zext i1 %t12 to i8, !dbg !DILocation(line: 12, scope: !16)
  %t13 = icmp ne i8 %v24, 0, !dbg !DILocation(line: 12, scope: !16)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 12, scope: !16)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 12, scope: !16)
  unreachable
g14:
  %v25 = add i64 %v20, %v22, !dbg !DILocation(line: 13, scope: !16)
  %t15 = inttoptr i64 %v20 to ptr, !dbg !DILocation(line: 13, scope: !16)
  %t16 = getelementptr i8, ptr %t15, i64 %v22, !dbg !DILocation(line: 13, scope: !16)
  %v26 = load volatile double, ptr %t16, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 13, scope: !16)
  %v29 = shl i32 %v12, 3, !dbg !DILocation(line: 15, scope: !16)
  %v30 = add i32 %v3, %v29, !dbg !DILocation(line: 16, scope: !16)
  %v31 = zext i32 %v30 to i64, !dbg !DILocation(line: 17, scope: !16)
  %t17 = inttoptr i64 %v21 to ptr addrspace(258), !dbg !DILocation(line: 18, scope: !16)
  %t18 = getelementptr i8, ptr addrspace(258) %t17, i64 8, !dbg !DILocation(line: 18, scope: !16)
  %v32 = load atomic i64, ptr addrspace(258) %t18 unordered, align 8, !dbg !DILocation(line: 18, scope: !16)
  %t19 = icmp uge i64 %v31, %v32, !dbg !DILocation(line: 18, scope: !16)
  %v33 = zext i1 %t19 to i8, !dbg !DILocation(line: 18, scope: !16)
  %t20 = icmp ne i8 %v33, 0, !dbg !DILocation(line: 18, scope: !16)
  br i1 %t20, label %x21, label %g21, !prof !1, !dbg !DILocation(line: 18, scope: !16)
x21:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 3\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 18, scope: !16)
  unreachable
g21:
  %v34 = add i64 %v20, %v31, !dbg !DILocation(line: 19, scope: !16)
  %t22 = inttoptr i64 %v20 to ptr, !dbg !DILocation(line: 19, scope: !16)
  %t23 = getelementptr i8, ptr %t22, i64 %v31, !dbg !DILocation(line: 19, scope: !16)
  %v35 = load volatile double, ptr %t23, align 1, !pcsections !{!"ft", !{i32 4}}, !dbg !DILocation(line: 19, scope: !16)
  %v36 = fadd double %v26, %v35, !dbg !DILocation(line: 20, scope: !16)
  %v37 = zext i32 %v15 to i64, !dbg !DILocation(line: 21, scope: !16)
  %t24 = inttoptr i64 %v21 to ptr addrspace(258), !dbg !DILocation(line: 22, scope: !16)
  %t25 = getelementptr i8, ptr addrspace(258) %t24, i64 8, !dbg !DILocation(line: 22, scope: !16)
  %v38 = load atomic i64, ptr addrspace(258) %t25 unordered, align 8, !dbg !DILocation(line: 22, scope: !16)
  %t26 = icmp uge i64 %v37, %v38, !dbg !DILocation(line: 22, scope: !16)
  %v39 = zext i1 %t26 to i8, !dbg !DILocation(line: 22, scope: !16)
  %t27 = icmp ne i8 %v39, 0, !dbg !DILocation(line: 22, scope: !16)
  br i1 %t27, label %x28, label %g28, !prof !1, !dbg !DILocation(line: 22, scope: !16)
x28:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 5\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 22, scope: !16)
  unreachable
g28:
  %v40 = add i64 %v20, %v37, !dbg !DILocation(line: 23, scope: !16)
  %t29 = inttoptr i64 %v20 to ptr, !dbg !DILocation(line: 23, scope: !16)
  %t30 = getelementptr i8, ptr %t29, i64 %v37, !dbg !DILocation(line: 23, scope: !16)
  %t31 = getelementptr i8, ptr %t30, i64 8, !dbg !DILocation(line: 23, scope: !16)
  store volatile double %v36, ptr %t31, align 1, !pcsections !{!"ft", !{i32 6}}, !dbg !DILocation(line: 23, scope: !16)
  %v42 = add i32 %v12, 1, !dbg !DILocation(line: 25, scope: !16)
  %t32 = icmp slt i32 %v42, %v5, !dbg !DILocation(line: 26, scope: !16)
  %v44 = zext i1 %t32 to i8, !dbg !DILocation(line: 26, scope: !16)
  %t33 = icmp ne i8 %v44, 0, !dbg !DILocation(line: 27, scope: !16)
  br i1 %t33, label %e34, label %b4, !dbg !DILocation(line: 27, scope: !16)
b3:
  ret void, !dbg !DILocation(line: 28, scope: !16)
b4:
  br label %b3, !dbg !DILocation(line: 29, scope: !16)
b5:
  %v45 = phi i32 [ 0, %e5 ]
  %v47 = add i32 1, %v45, !dbg !DILocation(line: 30, scope: !16)
  %v48 = sext i32 %v47 to i64, !dbg !DILocation(line: 30, scope: !16)
  %v50 = add i32 0, %v5, !dbg !DILocation(line: 30, scope: !16)
  %v51 = sext i32 %v50 to i64, !dbg !DILocation(line: 30, scope: !16)
  %v53 = sub i64 %v51, %v48, !dbg !DILocation(line: 30, scope: !16)
  %v54 = sub i64 2147483647, %v51, !dbg !DILocation(line: 30, scope: !16)
  %v56 = add i64 %v53, 0, !dbg !DILocation(line: 30, scope: !16)
  %v58 = call i64 @llvm.smax.i64(i64 %v56, i64 0), !dbg !DILocation(line: 30, scope: !16)
  %v60 = lshr i64 %v58, 0, !dbg !DILocation(line: 30, scope: !16)
  %v62 = add i32 0, %v2, !dbg !DILocation(line: 30, scope: !16)
  %v64 = mul i32 %v45, 8, !dbg !DILocation(line: 30, scope: !16)
  %v65 = add i32 %v62, %v64, !dbg !DILocation(line: 30, scope: !16)
  %v66 = zext i32 %v65 to i64, !dbg !DILocation(line: 30, scope: !16)
  %v68 = mul i64 %v60, 8, !dbg !DILocation(line: 30, scope: !16)
  %v69 = add i64 %v66, %v68, !dbg !DILocation(line: 30, scope: !16)
  %t35 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 31, scope: !16)
  %v70 = load i64, ptr addrspace(258) %t35, align 8, !invariant.load !0, !dbg !DILocation(line: 31, scope: !16)
  %t36 = inttoptr i64 %v70 to ptr addrspace(258), !dbg !DILocation(line: 32, scope: !16)
  %t37 = getelementptr i8, ptr addrspace(258) %t36, i64 8, !dbg !DILocation(line: 32, scope: !16)
  %v71 = load atomic i64, ptr addrspace(258) %t37 unordered, align 8, !dbg !DILocation(line: 32, scope: !16)
  %v73 = add i64 %v69, 8, !dbg !DILocation(line: 32, scope: !16)
  %v74 = sub i64 %v71, %v73, !dbg !DILocation(line: 32, scope: !16)
  %v75 = or i64 %v54, %v74, !dbg !DILocation(line: 32, scope: !16)
  %t38 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 33, scope: !16)
  %v76 = load i64, ptr addrspace(258) %t38, align 8, !invariant.load !0, !dbg !DILocation(line: 33, scope: !16)
  %v78 = add i64 %v66, 0, !dbg !DILocation(line: 34, scope: !16)
  %v79 = add i64 %v76, %v78, !dbg !DILocation(line: 34, scope: !16)
  %v81 = add i64 %v66, 0, !dbg !DILocation(line: 34, scope: !16)
  %v82 = add i64 %v76, %v81, !dbg !DILocation(line: 34, scope: !16)
  %v84 = add i64 %v73, 0, !dbg !DILocation(line: 34, scope: !16)
  %v85 = add i64 %v76, %v84, !dbg !DILocation(line: 34, scope: !16)
  %v87 = add i32 0, %v3, !dbg !DILocation(line: 34, scope: !16)
  %v89 = mul i32 %v45, 8, !dbg !DILocation(line: 34, scope: !16)
  %v90 = add i32 %v87, %v89, !dbg !DILocation(line: 34, scope: !16)
  %v91 = zext i32 %v90 to i64, !dbg !DILocation(line: 34, scope: !16)
  %v93 = mul i64 %v60, 8, !dbg !DILocation(line: 34, scope: !16)
  %v94 = add i64 %v91, %v93, !dbg !DILocation(line: 34, scope: !16)
  %t39 = inttoptr i64 %v70 to ptr addrspace(258), !dbg !DILocation(line: 34, scope: !16)
  %t40 = getelementptr i8, ptr addrspace(258) %t39, i64 8, !dbg !DILocation(line: 34, scope: !16)
  %v95 = load atomic i64, ptr addrspace(258) %t40 unordered, align 8, !dbg !DILocation(line: 34, scope: !16)
  %v97 = add i64 %v94, 8, !dbg !DILocation(line: 34, scope: !16)
  %v98 = sub i64 %v95, %v97, !dbg !DILocation(line: 34, scope: !16)
  %v99 = or i64 %v75, %v98, !dbg !DILocation(line: 34, scope: !16)
  %v101 = add i64 %v91, 0, !dbg !DILocation(line: 34, scope: !16)
  %v102 = add i64 %v76, %v101, !dbg !DILocation(line: 34, scope: !16)
  %v104 = add i64 %v91, 0, !dbg !DILocation(line: 34, scope: !16)
  %v105 = add i64 %v76, %v104, !dbg !DILocation(line: 34, scope: !16)
  %v107 = add i64 %v97, 0, !dbg !DILocation(line: 34, scope: !16)
  %v108 = add i64 %v76, %v107, !dbg !DILocation(line: 34, scope: !16)
  %v110 = add i32 0, %v4, !dbg !DILocation(line: 34, scope: !16)
  %v112 = mul i32 %v45, 8, !dbg !DILocation(line: 34, scope: !16)
  %v113 = add i32 %v110, %v112, !dbg !DILocation(line: 34, scope: !16)
  %v114 = zext i32 %v113 to i64, !dbg !DILocation(line: 34, scope: !16)
  %v116 = mul i64 %v60, 8, !dbg !DILocation(line: 34, scope: !16)
  %v117 = add i64 %v114, %v116, !dbg !DILocation(line: 34, scope: !16)
  %t41 = inttoptr i64 %v70 to ptr addrspace(258), !dbg !DILocation(line: 34, scope: !16)
  %t42 = getelementptr i8, ptr addrspace(258) %t41, i64 8, !dbg !DILocation(line: 34, scope: !16)
  %v118 = load atomic i64, ptr addrspace(258) %t42 unordered, align 8, !dbg !DILocation(line: 34, scope: !16)
  %v120 = add i64 %v117, 16, !dbg !DILocation(line: 34, scope: !16)
  %v121 = sub i64 %v118, %v120, !dbg !DILocation(line: 34, scope: !16)
  %v122 = or i64 %v99, %v121, !dbg !DILocation(line: 34, scope: !16)
  %v124 = add i64 %v114, 8, !dbg !DILocation(line: 34, scope: !16)
  %v125 = add i64 %v76, %v124, !dbg !DILocation(line: 34, scope: !16)
  %v127 = add i64 %v114, 8, !dbg !DILocation(line: 34, scope: !16)
  %v128 = add i64 %v76, %v127, !dbg !DILocation(line: 34, scope: !16)
  %v130 = add i64 %v120, 0, !dbg !DILocation(line: 34, scope: !16)
  %v131 = add i64 %v76, %v130, !dbg !DILocation(line: 34, scope: !16)
  %v132 = sub i64 %v128, %v85, !dbg !DILocation(line: 34, scope: !16)
  %v133 = sub i64 %v82, %v131, !dbg !DILocation(line: 34, scope: !16)
  %v134 = and i64 %v132, %v133, !dbg !DILocation(line: 34, scope: !16)
  %v135 = or i64 %v122, %v134, !dbg !DILocation(line: 34, scope: !16)
  %v136 = sub i64 %v128, %v108, !dbg !DILocation(line: 34, scope: !16)
  %v137 = sub i64 %v105, %v131, !dbg !DILocation(line: 34, scope: !16)
  %v138 = and i64 %v136, %v137, !dbg !DILocation(line: 34, scope: !16)
  %v139 = or i64 %v135, %v138, !dbg !DILocation(line: 34, scope: !16)
  %t43 = icmp slt i64 %v139, 0, !dbg !DILocation(line: 34, scope: !16)
  %v141 = zext i1 %t43 to i8, !dbg !DILocation(line: 34, scope: !16)
  %t44 = icmp ne i8 %v141, 0, !dbg !DILocation(line: 34, scope: !16)
  br i1 %t44, label %e45, label %b6, !dbg !DILocation(line: 34, scope: !16)
b6:
  %v142 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v139, i64 0, i64 %v76, i64 %v79) #3, !dbg !DILocation(line: 34, scope: !16)
  %v143 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v139, i64 0, i64 %v76, i64 %v102) #3, !dbg !DILocation(line: 34, scope: !16)
  %v144 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v139, i64 0, i64 %v76, i64 %v125) #3, !dbg !DILocation(line: 34, scope: !16)
  %v146 = and i64 %v60, 4294967295, !dbg !DILocation(line: 34, scope: !16)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 36, scope: !16)
  br label %e46, !dbg !DILocation(line: 36, scope: !16)
b7:
  %v148 = phi i32 [ %v45, %e46 ], [ %v162, %e55 ]
  %v149 = phi i64 [ 0, %e46 ], [ %v165, %e55 ]
  %v152 = mul i64 %v149, 8, !dbg !DILocation(line: 37, scope: !16)
  %v153 = add i64 %v142, %v152, !dbg !DILocation(line: 37, scope: !16)
  %t47 = inttoptr i64 %v142 to ptr addrspace(258), !dbg !DILocation(line: 38, scope: !16)
  %t48 = getelementptr inbounds i8, ptr addrspace(258) %t47, i64 %v152, !dbg !DILocation(line: 38, scope: !16)
  %v150 = load double, ptr addrspace(258) %t48, align 1, !alias.scope !{!{!"0.0.0", !{!"0.0"}}}, !noalias !{!{!"0.0.2", !{!"0.0"}}}, !dbg !DILocation(line: 38, scope: !16)
  %v156 = mul i64 %v149, 8, !dbg !DILocation(line: 39, scope: !16)
  %v157 = add i64 %v143, %v156, !dbg !DILocation(line: 39, scope: !16)
  %t49 = inttoptr i64 %v143 to ptr addrspace(258), !dbg !DILocation(line: 40, scope: !16)
  %t50 = getelementptr inbounds i8, ptr addrspace(258) %t49, i64 %v156, !dbg !DILocation(line: 40, scope: !16)
  %v154 = load double, ptr addrspace(258) %t50, align 1, !alias.scope !{!{!"0.0.1", !{!"0.0"}}}, !noalias !{!{!"0.0.2", !{!"0.0"}}}, !dbg !DILocation(line: 40, scope: !16)
  %v158 = fadd double %v150, %v154, !dbg !DILocation(line: 40, scope: !16)
  %v160 = mul i64 %v149, 8, !dbg !DILocation(line: 41, scope: !16)
  %v161 = add i64 %v144, %v160, !dbg !DILocation(line: 41, scope: !16)
  %t51 = inttoptr i64 %v144 to ptr addrspace(258), !dbg !DILocation(line: 42, scope: !16)
  %t52 = getelementptr inbounds i8, ptr addrspace(258) %t51, i64 %v160, !dbg !DILocation(line: 42, scope: !16)
  store double %v158, ptr addrspace(258) %t52, align 1, !alias.scope !{!{!"0.0.2", !{!"0.0"}}}, !noalias !{!{!"0.0.0", !{!"0.0"}}, !{!"0.0.1", !{!"0.0"}}}, !dbg !DILocation(line: 42, scope: !16)
  %v162 = add i32 %v148, 1, !dbg !DILocation(line: 42, scope: !16)
  %t53 = icmp ne i64 %v149, %v146, !dbg !DILocation(line: 43, scope: !16)
  %v163 = zext i1 %t53 to i8, !dbg !DILocation(line: 43, scope: !16)
  %v165 = add i64 %v149, 1, !dbg !DILocation(line: 43, scope: !16)
  %t54 = icmp ne i8 %v163, 0, !dbg !DILocation(line: 44, scope: !16)
  br i1 %t54, label %e55, label %b8, !dbg !DILocation(line: 44, scope: !16)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 45, scope: !16)
  br label %b4, !dbg !DILocation(line: 45, scope: !16)
e5:
  br label %b5, !dbg !DILocation(line: 4, scope: !16)
e34:
  br label %b2, !dbg !DILocation(line: 27, scope: !16)
e45:
  br label %b2, !dbg !DILocation(line: 34, scope: !16)
e46:
  br label %b7, !dbg !DILocation(line: 36, scope: !16)
e55:
  br label %b7, !dbg !DILocation(line: 44, scope: !16)
}

; trap: function 1
define dso_local i32 @wf1(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !17 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !17)
  %v6 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !17)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !17)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !17)
  %t3 = inttoptr i64 %v7 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !17)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 3, scope: !17)
  %v8 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 3, scope: !17)
  br label %e5, !dbg !DILocation(line: 4, scope: !17)
b2:
  %v10 = phi i32 [ %v19, %e20 ], [ %v25, %e28 ]
  %v11 = phi i32 [ %v21, %e20 ], [ %v26, %e28 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 4, scope: !17)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 4, scope: !17)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf1, 1, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !17)
  unreachable
g7:
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 5, scope: !17)
  %v12 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !17)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 5, scope: !17)
  %v13 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !17)
  %v14 = zext i32 %v11 to i64, !dbg !DILocation(line: 5, scope: !17)
  %t10 = inttoptr i64 %v13 to ptr addrspace(258), !dbg !DILocation(line: 6, scope: !17)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 6, scope: !17)
  %v15 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 6, scope: !17)
  %t12 = icmp uge i64 %v14, %v15, !dbg !DILocation(line: 6, scope: !17)
  %v16 = zext i1 %t12 to i8, !dbg !DILocation(line: 6, scope: !17)
  %t13 = icmp ne i8 %v16, 0, !dbg !DILocation(line: 6, scope: !17)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 6, scope: !17)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf1, 1, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 6, scope: !17)
  unreachable
g14:
  %v17 = add i64 %v12, %v14, !dbg !DILocation(line: 7, scope: !17)
  %t15 = inttoptr i64 %v12 to ptr, !dbg !DILocation(line: 7, scope: !17)
  %t16 = getelementptr i8, ptr %t15, i64 %v14, !dbg !DILocation(line: 7, scope: !17)
  %v18 = load volatile i32, ptr %t16, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 7, scope: !17)
  %t17 = call i32 asm "", "=r,0"(i32 %v18) #3, !dbg !DILocation(line: 8, scope: !17)
  %v19 = add i32 %v10, %t17, !dbg !DILocation(line: 8, scope: !17)
  %v21 = add i32 %v11, 4, !dbg !DILocation(line: 10, scope: !17)
  %t18 = icmp ne i32 %v21, %v3, !dbg !DILocation(line: 11, scope: !17)
  %v23 = zext i1 %t18 to i8, !dbg !DILocation(line: 11, scope: !17)
  %t19 = icmp ne i8 %v23, 0, !dbg !DILocation(line: 12, scope: !17)
  br i1 %t19, label %e20, label %e21, !dbg !DILocation(line: 12, scope: !17)
b3:
  ret i32 %v24, !dbg !DILocation(line: 13, scope: !17)
b4:
  %v24 = phi i32 [ %v19, %e21 ], [ %v74, %e35 ]
  br label %b3, !dbg !DILocation(line: 14, scope: !17)
b5:
  %v25 = phi i32 [ 0, %e5 ]
  %v26 = phi i32 [ %v2, %e5 ]
  %v29 = mul i32 %v3, -1, !dbg !DILocation(line: 15, scope: !17)
  %v30 = add i32 4, %v29, !dbg !DILocation(line: 15, scope: !17)
  %v31 = add i32 %v30, %v26, !dbg !DILocation(line: 15, scope: !17)
  %v32 = sub i32 0, %v31, !dbg !DILocation(line: 15, scope: !17)
  %v33 = zext i32 %v32 to i64, !dbg !DILocation(line: 15, scope: !17)
  %v35 = and i64 %v33, 3, !dbg !DILocation(line: 15, scope: !17)
  %v36 = sub i64 0, %v35, !dbg !DILocation(line: 15, scope: !17)
  %v38 = lshr i64 %v33, 2, !dbg !DILocation(line: 15, scope: !17)
  %v40 = add i32 0, %v26, !dbg !DILocation(line: 15, scope: !17)
  %v41 = zext i32 %v40 to i64, !dbg !DILocation(line: 15, scope: !17)
  %v43 = mul i64 %v38, 4, !dbg !DILocation(line: 15, scope: !17)
  %v44 = add i64 %v41, %v43, !dbg !DILocation(line: 15, scope: !17)
  %t22 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 16, scope: !17)
  %v45 = load i64, ptr addrspace(258) %t22, align 8, !invariant.load !0, !dbg !DILocation(line: 16, scope: !17)
  %t23 = inttoptr i64 %v45 to ptr addrspace(258), !dbg !DILocation(line: 17, scope: !17)
  %t24 = getelementptr i8, ptr addrspace(258) %t23, i64 8, !dbg !DILocation(line: 17, scope: !17)
  %v46 = load atomic i64, ptr addrspace(258) %t24 unordered, align 8, !dbg !DILocation(line: 17, scope: !17)
  %v48 = add i64 %v44, 4, !dbg !DILocation(line: 17, scope: !17)
  %v49 = sub i64 %v46, %v48, !dbg !DILocation(line: 17, scope: !17)
  %v50 = or i64 %v36, %v49, !dbg !DILocation(line: 17, scope: !17)
  %t25 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 18, scope: !17)
  %v51 = load i64, ptr addrspace(258) %t25, align 8, !invariant.load !0, !dbg !DILocation(line: 18, scope: !17)
  %v53 = add i64 %v41, 0, !dbg !DILocation(line: 19, scope: !17)
  %v54 = add i64 %v51, %v53, !dbg !DILocation(line: 19, scope: !17)
  %v56 = add i64 %v41, 0, !dbg !DILocation(line: 19, scope: !17)
  %v57 = add i64 %v51, %v56, !dbg !DILocation(line: 19, scope: !17)
  %v59 = add i64 %v48, 0, !dbg !DILocation(line: 19, scope: !17)
  %v60 = add i64 %v51, %v59, !dbg !DILocation(line: 19, scope: !17)
  %t26 = icmp slt i64 %v50, 0, !dbg !DILocation(line: 19, scope: !17)
  %v62 = zext i1 %t26 to i8, !dbg !DILocation(line: 19, scope: !17)
  %t27 = icmp ne i8 %v62, 0, !dbg !DILocation(line: 19, scope: !17)
  br i1 %t27, label %e28, label %b6, !dbg !DILocation(line: 19, scope: !17)
b6:
  %v63 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v50, i64 0, i64 %v51, i64 %v54) #3, !dbg !DILocation(line: 19, scope: !17)
  %v65 = and i64 %v38, 4294967295, !dbg !DILocation(line: 19, scope: !17)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 21, scope: !17)
  br label %e29, !dbg !DILocation(line: 21, scope: !17)
b7:
  %v67 = phi i32 [ %v25, %e29 ], [ %v74, %e34 ]
  %v68 = phi i32 [ %v26, %e29 ], [ %v75, %e34 ]
  %v69 = phi i64 [ 0, %e29 ], [ %v78, %e34 ]
  %v72 = mul i64 %v69, 4, !dbg !DILocation(line: 22, scope: !17)
  %v73 = add i64 %v63, %v72, !dbg !DILocation(line: 22, scope: !17)
  %t30 = inttoptr i64 %v63 to ptr addrspace(258), !dbg !DILocation(line: 23, scope: !17)
  %t31 = getelementptr inbounds i8, ptr addrspace(258) %t30, i64 %v72, !dbg !DILocation(line: 23, scope: !17)
  %v70 = load i32, ptr addrspace(258) %t31, align 1, !dbg !DILocation(line: 23, scope: !17)
  %v74 = add i32 %v67, %v70, !dbg !DILocation(line: 23, scope: !17)
  %v75 = add i32 %v68, 4, !dbg !DILocation(line: 23, scope: !17)
  %t32 = icmp ne i64 %v69, %v65, !dbg !DILocation(line: 24, scope: !17)
  %v76 = zext i1 %t32 to i8, !dbg !DILocation(line: 24, scope: !17)
  %v78 = add i64 %v69, 1, !dbg !DILocation(line: 24, scope: !17)
  %t33 = icmp ne i8 %v76, 0, !dbg !DILocation(line: 25, scope: !17)
  br i1 %t33, label %e34, label %b8, !dbg !DILocation(line: 25, scope: !17)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 26, scope: !17)
  br label %e35, !dbg !DILocation(line: 26, scope: !17)
e5:
  br label %b5, !dbg !DILocation(line: 4, scope: !17)
e20:
  br label %b2, !dbg !DILocation(line: 12, scope: !17)
e21:
  br label %b4, !dbg !DILocation(line: 12, scope: !17)
e28:
  br label %b2, !dbg !DILocation(line: 19, scope: !17)
e29:
  br label %b7, !dbg !DILocation(line: 21, scope: !17)
e34:
  br label %b7, !dbg !DILocation(line: 25, scope: !17)
e35:
  br label %b4, !dbg !DILocation(line: 26, scope: !17)
}

; trap: function 2
define dso_local void @wf2(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !18 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !18)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !18)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !18)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !18)
  %t3 = inttoptr i64 %v5 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !18)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 2, scope: !18)
  %v6 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 2, scope: !18)
  br label %e5, !dbg !DILocation(line: 3, scope: !18)
b2:
  %v8 = phi i32 [ %v2, %e5 ], [ %v22, %e26 ]
  %v23 = phi i32 [ %v3, %e5 ], [ %v25, %e26 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 3, scope: !18)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 3, scope: !18)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf2, 2, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 3, scope: !18)
  unreachable
g7:
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 4, scope: !18)
  %v9 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !18)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 4, scope: !18)
  %v10 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 4, scope: !18)
  %v11 = zext i32 %v8 to i64, !dbg !DILocation(line: 4, scope: !18)
  %t10 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 5, scope: !18)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 5, scope: !18)
  %v12 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 5, scope: !18)
  %t12 = icmp uge i64 %v11, %v12, !dbg !DILocation(line: 5, scope: !18)
  %v13 = zext i1 %t12 to i8, !dbg !DILocation(line: 5, scope: !18)
  %t13 = icmp ne i8 %v13, 0, !dbg !DILocation(line: 5, scope: !18)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 5, scope: !18)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf2, 2, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 5, scope: !18)
  unreachable
g14:
  %v14 = add i64 %v9, %v11, !dbg !DILocation(line: 6, scope: !18)
  %t15 = inttoptr i64 %v9 to ptr, !dbg !DILocation(line: 6, scope: !18)
  %t16 = getelementptr i8, ptr %t15, i64 %v11, !dbg !DILocation(line: 6, scope: !18)
  %v15 = load volatile i32, ptr %t16, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 6, scope: !18)
  %v17 = zext i32 %v15 to i64, !dbg !DILocation(line: 8, scope: !18)
  %t17 = inttoptr i64 %v10 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !18)
  %t18 = getelementptr i8, ptr addrspace(258) %t17, i64 8, !dbg !DILocation(line: 9, scope: !18)
  %v18 = load atomic i64, ptr addrspace(258) %t18 unordered, align 8, !dbg !DILocation(line: 9, scope: !18)
  %t19 = icmp uge i64 %v17, %v18, !dbg !DILocation(line: 9, scope: !18)
  %v19 = zext i1 %t19 to i8, !dbg !DILocation(line: 9, scope: !18)
  %t20 = icmp ne i8 %v19, 0, !dbg !DILocation(line: 9, scope: !18)
  br i1 %t20, label %x21, label %g21, !prof !1, !dbg !DILocation(line: 9, scope: !18)
x21:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf2, 2, 3\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 9, scope: !18)
  unreachable
g21:
  %v20 = add i64 %v9, %v17, !dbg !DILocation(line: 10, scope: !18)
  %t22 = trunc i32 0 to i8, !dbg !DILocation(line: 10, scope: !18)
  %t23 = inttoptr i64 %v9 to ptr, !dbg !DILocation(line: 10, scope: !18)
  %t24 = getelementptr i8, ptr %t23, i64 %v17, !dbg !DILocation(line: 10, scope: !18)
  store volatile i8 %t22, ptr %t24, align 1, !pcsections !{!"ft", !{i32 4}}, !dbg !DILocation(line: 10, scope: !18)
  %v22 = add i32 %v8, 4, !dbg !DILocation(line: 12, scope: !18)
  %v25 = sub i32 %v23, 1, !dbg !DILocation(line: 14, scope: !18)
  %t25 = icmp ne i32 %v25, 0, !dbg !DILocation(line: 15, scope: !18)
  br i1 %t25, label %e26, label %b3, !dbg !DILocation(line: 15, scope: !18)
b3:
  ret void, !dbg !DILocation(line: 16, scope: !18)
e5:
  br label %b2, !dbg !DILocation(line: 3, scope: !18)
e26:
  br label %b2, !dbg !DILocation(line: 15, scope: !18)
}

; trap: function 3
define dso_local void @wf3(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !19 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !19)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !19)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !19)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !19)
  %t3 = inttoptr i64 %v5 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !19)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 2, scope: !19)
  %v6 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 2, scope: !19)
  br label %e5, !dbg !DILocation(line: 3, scope: !19)
b2:
  %v8 = phi i32 [ %v2, %e5 ], [ %v17, %e18 ]
  %v18 = phi i32 [ %v3, %e5 ], [ %v20, %e18 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 3, scope: !19)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 3, scope: !19)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf3, 3, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 3, scope: !19)
  unreachable
g7:
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 48, !dbg !DILocation(line: 5, scope: !19)
  %v10 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !19)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 56, !dbg !DILocation(line: 5, scope: !19)
  %v11 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !19)
  %v12 = zext i32 %v8 to i64, !dbg !DILocation(line: 5, scope: !19)
  %t10 = inttoptr i64 %v11 to ptr addrspace(258), !dbg !DILocation(line: 6, scope: !19)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 6, scope: !19)
  %v13 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 6, scope: !19)
  %t12 = icmp uge i64 %v12, %v13, !dbg !DILocation(line: 6, scope: !19)
  %v14 = zext i1 %t12 to i8, !dbg !DILocation(line: 6, scope: !19)
  %t13 = icmp ne i8 %v14, 0, !dbg !DILocation(line: 6, scope: !19)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 6, scope: !19)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf3, 3, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 6, scope: !19)
  unreachable
g14:
  %v15 = add i64 %v10, %v12, !dbg !DILocation(line: 7, scope: !19)
  %t15 = inttoptr i64 %v10 to ptr, !dbg !DILocation(line: 7, scope: !19)
  %t16 = getelementptr i8, ptr %t15, i64 %v12, !dbg !DILocation(line: 7, scope: !19)
  store volatile i32 0, ptr %t16, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 7, scope: !19)
  %v17 = add i32 %v8, 4, !dbg !DILocation(line: 9, scope: !19)
  %v20 = sub i32 %v18, 1, !dbg !DILocation(line: 11, scope: !19)
  %t17 = icmp ne i32 %v20, 0, !dbg !DILocation(line: 12, scope: !19)
  br i1 %t17, label %e18, label %b3, !dbg !DILocation(line: 12, scope: !19)
b3:
  ret void, !dbg !DILocation(line: 13, scope: !19)
e5:
  br label %b2, !dbg !DILocation(line: 3, scope: !19)
e18:
  br label %b2, !dbg !DILocation(line: 12, scope: !19)
}

; trap: function 4
define dso_local void @wf4(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3, i32 %v4) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !20 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !20)
  %v6 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !20)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !20)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !20)
  %t3 = inttoptr i64 %v7 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !20)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 3, scope: !20)
  %v8 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 3, scope: !20)
  br label %e5, !dbg !DILocation(line: 4, scope: !20)
b2:
  %v11 = phi i32 [ 0, %e5 ], [ %v70, %e70 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 4, scope: !20)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 4, scope: !20)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !20)
  unreachable
g7:
  %v13 = shl i32 %v11, 3, !dbg !DILocation(line: 6, scope: !20)
  %v14 = add i32 %v3, %v13, !dbg !DILocation(line: 7, scope: !20)
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 9, scope: !20)
  %v16 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !20)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 9, scope: !20)
  %v17 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !20)
  %t10 = inttoptr i64 %v17 to ptr addrspace(258), !dbg !DILocation(line: 10, scope: !20)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 10, scope: !20)
  %v18 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 10, scope: !20)
  br label %e12, !dbg !DILocation(line: 11, scope: !20)
b3:
  %v21 = phi i32 [ %v61, %e67 ], [ %v76, %e81 ]
  %t13 = icmp ne i32 0, 0, !dbg !DILocation(line: 11, scope: !20)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 11, scope: !20)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 11, scope: !20)
  unreachable
g14:
  %v22 = add i32 %v2, %v21, !dbg !DILocation(line: 12, scope: !20)
  %t15 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 13, scope: !20)
  %v24 = load i64, ptr addrspace(258) %t15, align 8, !invariant.load !0, !dbg !DILocation(line: 13, scope: !20)
  %t16 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 13, scope: !20)
  %v25 = load i64, ptr addrspace(258) %t16, align 8, !invariant.load !0, !dbg !DILocation(line: 13, scope: !20)
  %v26 = zext i32 %v14 to i64, !dbg !DILocation(line: 13, scope: !20)
  %t17 = inttoptr i64 %v25 to ptr addrspace(258), !dbg !DILocation(line: 14, scope: !20)
  %t18 = getelementptr i8, ptr addrspace(258) %t17, i64 8, !dbg !DILocation(line: 14, scope: !20)
  %v27 = load atomic i64, ptr addrspace(258) %t18 unordered, align 8, !dbg !DILocation(line: 14, scope: !20)
  %t19 = icmp uge i64 %v26, %v27, !dbg !DILocation(line: 14, scope: !20)
  %v28 = zext i1 %t19 to i8, !dbg !DILocation(line: 14, scope: !20)
  %t20 = icmp ne i8 %v28, 0, !dbg !DILocation(line: 14, scope: !20)
  br i1 %t20, label %x21, label %g21, !prof !1, !dbg !DILocation(line: 14, scope: !20)
x21:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 2\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 14, scope: !20)
  unreachable
g21:
  %v29 = add i64 %v24, %v26, !dbg !DILocation(line: 15, scope: !20)
  %t22 = inttoptr i64 %v24 to ptr, !dbg !DILocation(line: 15, scope: !20)
  %t23 = getelementptr i8, ptr %t22, i64 %v26, !dbg !DILocation(line: 15, scope: !20)
  %v30 = load volatile i64, ptr %t23, align 1, !pcsections !{!"ft", !{i32 3}}, !dbg !DILocation(line: 15, scope: !20)
  %v32 = add i32 %v4, %v21, !dbg !DILocation(line: 16, scope: !20)
  %v33 = zext i32 %v32 to i64, !dbg !DILocation(line: 17, scope: !20)
  %t24 = inttoptr i64 %v25 to ptr addrspace(258), !dbg !DILocation(line: 18, scope: !20)
  %t25 = getelementptr i8, ptr addrspace(258) %t24, i64 8, !dbg !DILocation(line: 18, scope: !20)
  %v34 = load atomic i64, ptr addrspace(258) %t25 unordered, align 8, !dbg !DILocation(line: 18, scope: !20)
  %t26 = icmp uge i64 %v33, %v34, !dbg !DILocation(line: 18, scope: !20)
  %v35 = zext i1 %t26 to i8, !dbg !DILocation(line: 18, scope: !20)
  %t27 = icmp ne i8 %v35, 0, !dbg !DILocation(line: 18, scope: !20)
  br i1 %t27, label %x28, label %g28, !prof !1, !dbg !DILocation(line: 18, scope: !20)
x28:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 4\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 18, scope: !20)
  unreachable
g28:
  %v36 = add i64 %v24, %v33, !dbg !DILocation(line: 19, scope: !20)
  %t29 = inttoptr i64 %v24 to ptr, !dbg !DILocation(line: 19, scope: !20)
  %t30 = getelementptr i8, ptr %t29, i64 %v33, !dbg !DILocation(line: 19, scope: !20)
  %v37 = load volatile i64, ptr %t30, align 1, !pcsections !{!"ft", !{i32 5}}, !dbg !DILocation(line: 19, scope: !20)
  %t31 = call i64 asm "", "=r,0"(i64 %v30) #3, !dbg !DILocation(line: 20, scope: !20)
  %t32 = call i64 asm "", "=r,0"(i64 %v37) #3, !dbg !DILocation(line: 20, scope: !20)
  %v38 = xor i64 %t31, %t32, !dbg !DILocation(line: 20, scope: !20)
  %v39 = zext i32 %v22 to i64, !dbg !DILocation(line: 21, scope: !20)
  %t33 = inttoptr i64 %v25 to ptr addrspace(258), !dbg !DILocation(line: 22, scope: !20)
  %t34 = getelementptr i8, ptr addrspace(258) %t33, i64 8, !dbg !DILocation(line: 22, scope: !20)
  %v40 = load atomic i64, ptr addrspace(258) %t34 unordered, align 8, !dbg !DILocation(line: 22, scope: !20)
  %t35 = icmp uge i64 %v39, %v40, !dbg !DILocation(line: 22, scope: !20)
  %v41 = zext i1 %t35 to i8, !dbg !DILocation(line: 22, scope: !20)
  %t36 = icmp ne i8 %v41, 0, !dbg !DILocation(line: 22, scope: !20)
  br i1 %t36, label %x37, label %g37, !prof !1, !dbg !DILocation(line: 22, scope: !20)
x37:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 6\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 22, scope: !20)
  unreachable
g37:
  %v42 = add i64 %v24, %v39, !dbg !DILocation(line: 23, scope: !20)
  %t38 = inttoptr i64 %v24 to ptr, !dbg !DILocation(line: 23, scope: !20)
  %t39 = getelementptr i8, ptr %t38, i64 %v39, !dbg !DILocation(line: 23, scope: !20)
  store volatile i64 %v38, ptr %t39, align 1, !pcsections !{!"ft", !{i32 7}}, !dbg !DILocation(line: 23, scope: !20)
  %v43 = add i32 %v2, %v21, !dbg !DILocation(line: 24, scope: !20)
  %v44 = zext i32 %v14 to i64, !dbg !DILocation(line: 25, scope: !20)
  %t40 = inttoptr i64 %v25 to ptr addrspace(258), !dbg !DILocation(line: 26, scope: !20)
  %t41 = getelementptr i8, ptr addrspace(258) %t40, i64 8, !dbg !DILocation(line: 26, scope: !20)
  %v45 = load atomic i64, ptr addrspace(258) %t41 unordered, align 8, !dbg !DILocation(line: 26, scope: !20)
  %t42 = icmp uge i64 %v44, %v45, !dbg !DILocation(line: 26, scope: !20)
  %v46 = zext i1 %t42 to i8, !dbg !DILocation(line: 26, scope: !20)
  %t43 = icmp ne i8 %v46, 0, !dbg !DILocation(line: 26, scope: !20)
  br i1 %t43, label %x44, label %g44, !prof !1, !dbg !DILocation(line: 26, scope: !20)
x44:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 8\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 26, scope: !20)
  unreachable
g44:
  %v47 = add i64 %v24, %v44, !dbg !DILocation(line: 27, scope: !20)
  %t45 = inttoptr i64 %v24 to ptr, !dbg !DILocation(line: 27, scope: !20)
  %t46 = getelementptr i8, ptr %t45, i64 %v44, !dbg !DILocation(line: 27, scope: !20)
  %v48 = load volatile i64, ptr %t46, align 1, !pcsections !{!"ft", !{i32 9}}, !dbg !DILocation(line: 27, scope: !20)
  %v49 = add i32 %v4, %v21, !dbg !DILocation(line: 28, scope: !20)
  %v50 = zext i32 %v49 to i64, !dbg !DILocation(line: 29, scope: !20)
  %t47 = inttoptr i64 %v25 to ptr addrspace(258), !dbg !DILocation(line: 30, scope: !20)
  %t48 = getelementptr i8, ptr addrspace(258) %t47, i64 8, !dbg !DILocation(line: 30, scope: !20)
  %v51 = load atomic i64, ptr addrspace(258) %t48 unordered, align 8, !dbg !DILocation(line: 30, scope: !20)
  %t49 = icmp uge i64 %v50, %v51, !dbg !DILocation(line: 30, scope: !20)
  %v52 = zext i1 %t49 to i8, !dbg !DILocation(line: 30, scope: !20)
  %t50 = icmp ne i8 %v52, 0, !dbg !DILocation(line: 30, scope: !20)
  br i1 %t50, label %x51, label %g51, !prof !1, !dbg !DILocation(line: 30, scope: !20)
x51:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 10\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 30, scope: !20)
  unreachable
g51:
  %v53 = add i64 %v24, %v50, !dbg !DILocation(line: 31, scope: !20)
  %t52 = inttoptr i64 %v24 to ptr, !dbg !DILocation(line: 31, scope: !20)
  %t53 = getelementptr i8, ptr %t52, i64 %v50, !dbg !DILocation(line: 31, scope: !20)
  %t54 = getelementptr i8, ptr %t53, i64 8, !dbg !DILocation(line: 31, scope: !20)
  %v54 = load volatile i64, ptr %t54, align 1, !pcsections !{!"ft", !{i32 11}}, !dbg !DILocation(line: 31, scope: !20)
  %t55 = call i64 asm "", "=r,0"(i64 %v48) #3, !dbg !DILocation(line: 32, scope: !20)
  %t56 = call i64 asm "", "=r,0"(i64 %v54) #3, !dbg !DILocation(line: 32, scope: !20)
  %v55 = xor i64 %t55, %t56, !dbg !DILocation(line: 32, scope: !20)
  %v56 = zext i32 %v43 to i64, !dbg !DILocation(line: 33, scope: !20)
  %t57 = inttoptr i64 %v25 to ptr addrspace(258), !dbg !DILocation(line: 34, scope: !20)
  %t58 = getelementptr i8, ptr addrspace(258) %t57, i64 8, !dbg !DILocation(line: 34, scope: !20)
  %v57 = load atomic i64, ptr addrspace(258) %t58 unordered, align 8, !dbg !DILocation(line: 34, scope: !20)
  %t59 = icmp uge i64 %v56, %v57, !dbg !DILocation(line: 34, scope: !20)
  %v58 = zext i1 %t59 to i8, !dbg !DILocation(line: 34, scope: !20)
  %t60 = icmp ne i8 %v58, 0, !dbg !DILocation(line: 34, scope: !20)
  br i1 %t60, label %x61, label %g61, !prof !1, !dbg !DILocation(line: 34, scope: !20)
x61:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 12\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 34, scope: !20)
  unreachable
g61:
  %v59 = add i64 %v24, %v56, !dbg !DILocation(line: 35, scope: !20)
  %t62 = inttoptr i64 %v24 to ptr, !dbg !DILocation(line: 35, scope: !20)
  %t63 = getelementptr i8, ptr %t62, i64 %v56, !dbg !DILocation(line: 35, scope: !20)
  %t64 = getelementptr i8, ptr %t63, i64 8, !dbg !DILocation(line: 35, scope: !20)
  store volatile i64 %v55, ptr %t64, align 1, !pcsections !{!"ft", !{i32 13}}, !dbg !DILocation(line: 35, scope: !20)
  %v61 = add i32 %v21, 16, !dbg !DILocation(line: 37, scope: !20)
  %v63 = zext i32 %v61 to i64, !dbg !DILocation(line: 39, scope: !20)
  %t65 = icmp ne i64 %v63, 1600, !dbg !DILocation(line: 39, scope: !20)
  %v65 = zext i1 %t65 to i8, !dbg !DILocation(line: 39, scope: !20)
  %t66 = icmp ne i8 %v65, 0, !dbg !DILocation(line: 40, scope: !20)
  br i1 %t66, label %e67, label %b6, !dbg !DILocation(line: 40, scope: !20)
b4:
  %v70 = add i32 %v11, 1, !dbg !DILocation(line: 42, scope: !20)
  %v72 = zext i32 %v70 to i64, !dbg !DILocation(line: 44, scope: !20)
  %t68 = icmp ne i64 %v72, 10, !dbg !DILocation(line: 44, scope: !20)
  %v74 = zext i1 %t68 to i8, !dbg !DILocation(line: 44, scope: !20)
  %t69 = icmp ne i8 %v74, 0, !dbg !DILocation(line: 45, scope: !20)
  br i1 %t69, label %e70, label %b5, !dbg !DILocation(line: 45, scope: !20)
b5:
  ret void, !dbg !DILocation(line: 46, scope: !20)
b6:
  br label %b4, !dbg !DILocation(line: 47, scope: !20)
b7:
  %v76 = phi i32 [ 0, %e12 ]
  %v78 = add i32 -1584, %v76, !dbg !DILocation(line: 48, scope: !20)
  %v79 = sub i32 0, %v78, !dbg !DILocation(line: 48, scope: !20)
  %v80 = zext i32 %v79 to i64, !dbg !DILocation(line: 48, scope: !20)
  %v82 = and i64 %v80, 15, !dbg !DILocation(line: 48, scope: !20)
  %v83 = sub i64 0, %v82, !dbg !DILocation(line: 48, scope: !20)
  %v85 = lshr i64 %v80, 4, !dbg !DILocation(line: 48, scope: !20)
  %v87 = add i32 0, %v3, !dbg !DILocation(line: 48, scope: !20)
  %v89 = mul i32 %v11, 8, !dbg !DILocation(line: 48, scope: !20)
  %v90 = add i32 %v87, %v89, !dbg !DILocation(line: 48, scope: !20)
  %v91 = zext i32 %v90 to i64, !dbg !DILocation(line: 48, scope: !20)
  %t71 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 49, scope: !20)
  %v92 = load i64, ptr addrspace(258) %t71, align 8, !invariant.load !0, !dbg !DILocation(line: 49, scope: !20)
  %t72 = inttoptr i64 %v92 to ptr addrspace(258), !dbg !DILocation(line: 50, scope: !20)
  %t73 = getelementptr i8, ptr addrspace(258) %t72, i64 8, !dbg !DILocation(line: 50, scope: !20)
  %v93 = load atomic i64, ptr addrspace(258) %t73 unordered, align 8, !dbg !DILocation(line: 50, scope: !20)
  %v95 = add i64 %v91, 8, !dbg !DILocation(line: 50, scope: !20)
  %v96 = sub i64 %v93, %v95, !dbg !DILocation(line: 50, scope: !20)
  %v97 = or i64 %v83, %v96, !dbg !DILocation(line: 50, scope: !20)
  %t74 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 51, scope: !20)
  %v98 = load i64, ptr addrspace(258) %t74, align 8, !invariant.load !0, !dbg !DILocation(line: 51, scope: !20)
  %v100 = add i64 %v91, 0, !dbg !DILocation(line: 52, scope: !20)
  %v101 = add i64 %v98, %v100, !dbg !DILocation(line: 52, scope: !20)
  %v103 = add i64 %v91, 0, !dbg !DILocation(line: 52, scope: !20)
  %v104 = add i64 %v98, %v103, !dbg !DILocation(line: 52, scope: !20)
  %v106 = add i64 %v95, 0, !dbg !DILocation(line: 52, scope: !20)
  %v107 = add i64 %v98, %v106, !dbg !DILocation(line: 52, scope: !20)
  %v109 = add i32 0, %v4, !dbg !DILocation(line: 52, scope: !20)
  %v110 = add i32 %v109, %v76, !dbg !DILocation(line: 52, scope: !20)
  %v111 = zext i32 %v110 to i64, !dbg !DILocation(line: 52, scope: !20)
  %v113 = mul i64 %v85, 16, !dbg !DILocation(line: 52, scope: !20)
  %v114 = add i64 %v111, %v113, !dbg !DILocation(line: 52, scope: !20)
  %t75 = inttoptr i64 %v92 to ptr addrspace(258), !dbg !DILocation(line: 52, scope: !20)
  %t76 = getelementptr i8, ptr addrspace(258) %t75, i64 8, !dbg !DILocation(line: 52, scope: !20)
  %v115 = load atomic i64, ptr addrspace(258) %t76 unordered, align 8, !dbg !DILocation(line: 52, scope: !20)
  %v117 = add i64 %v114, 16, !dbg !DILocation(line: 52, scope: !20)
  %v118 = sub i64 %v115, %v117, !dbg !DILocation(line: 52, scope: !20)
  %v119 = or i64 %v97, %v118, !dbg !DILocation(line: 52, scope: !20)
  %v121 = add i64 %v111, 0, !dbg !DILocation(line: 52, scope: !20)
  %v122 = add i64 %v98, %v121, !dbg !DILocation(line: 52, scope: !20)
  %v124 = add i64 %v111, 0, !dbg !DILocation(line: 52, scope: !20)
  %v125 = add i64 %v98, %v124, !dbg !DILocation(line: 52, scope: !20)
  %v127 = add i64 %v117, 0, !dbg !DILocation(line: 52, scope: !20)
  %v128 = add i64 %v98, %v127, !dbg !DILocation(line: 52, scope: !20)
  %v130 = add i32 0, %v2, !dbg !DILocation(line: 52, scope: !20)
  %v131 = add i32 %v130, %v76, !dbg !DILocation(line: 52, scope: !20)
  %v132 = zext i32 %v131 to i64, !dbg !DILocation(line: 52, scope: !20)
  %v134 = mul i64 %v85, 16, !dbg !DILocation(line: 52, scope: !20)
  %v135 = add i64 %v132, %v134, !dbg !DILocation(line: 52, scope: !20)
  %t77 = inttoptr i64 %v92 to ptr addrspace(258), !dbg !DILocation(line: 52, scope: !20)
  %t78 = getelementptr i8, ptr addrspace(258) %t77, i64 8, !dbg !DILocation(line: 52, scope: !20)
  %v136 = load atomic i64, ptr addrspace(258) %t78 unordered, align 8, !dbg !DILocation(line: 52, scope: !20)
  %v138 = add i64 %v135, 16, !dbg !DILocation(line: 52, scope: !20)
  %v139 = sub i64 %v136, %v138, !dbg !DILocation(line: 52, scope: !20)
  %v140 = or i64 %v119, %v139, !dbg !DILocation(line: 52, scope: !20)
  %v142 = add i64 %v132, 0, !dbg !DILocation(line: 52, scope: !20)
  %v143 = add i64 %v98, %v142, !dbg !DILocation(line: 52, scope: !20)
  %v145 = add i64 %v132, 0, !dbg !DILocation(line: 52, scope: !20)
  %v146 = add i64 %v98, %v145, !dbg !DILocation(line: 52, scope: !20)
  %v148 = add i64 %v138, 0, !dbg !DILocation(line: 52, scope: !20)
  %v149 = add i64 %v98, %v148, !dbg !DILocation(line: 52, scope: !20)
  %v150 = sub i64 %v146, %v107, !dbg !DILocation(line: 52, scope: !20)
  %v151 = sub i64 %v104, %v149, !dbg !DILocation(line: 52, scope: !20)
  %v152 = and i64 %v150, %v151, !dbg !DILocation(line: 52, scope: !20)
  %v153 = or i64 %v140, %v152, !dbg !DILocation(line: 52, scope: !20)
  %v154 = sub i64 %v146, %v128, !dbg !DILocation(line: 52, scope: !20)
  %v155 = sub i64 %v125, %v149, !dbg !DILocation(line: 52, scope: !20)
  %v156 = and i64 %v154, %v155, !dbg !DILocation(line: 52, scope: !20)
  %v157 = or i64 %v153, %v156, !dbg !DILocation(line: 52, scope: !20)
  %t79 = icmp slt i64 %v157, 0, !dbg !DILocation(line: 52, scope: !20)
  %v159 = zext i1 %t79 to i8, !dbg !DILocation(line: 52, scope: !20)
  %t80 = icmp ne i8 %v159, 0, !dbg !DILocation(line: 52, scope: !20)
  br i1 %t80, label %e81, label %b8, !dbg !DILocation(line: 52, scope: !20)
b8:
  %v160 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v157, i64 0, i64 %v98, i64 %v101) #3, !dbg !DILocation(line: 52, scope: !20)
  %v161 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v157, i64 0, i64 %v98, i64 %v122) #3, !dbg !DILocation(line: 52, scope: !20)
  %v162 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v157, i64 0, i64 %v98, i64 %v143) #3, !dbg !DILocation(line: 52, scope: !20)
  %v164 = and i64 %v85, 4294967295, !dbg !DILocation(line: 52, scope: !20)
  %v166 = add i64 %v164, 1, !dbg !DILocation(line: 52, scope: !20)
  %v168 = mul i64 %v166, 2, !dbg !DILocation(line: 52, scope: !20)
  %v170 = add i64 %v168, -1, !dbg !DILocation(line: 52, scope: !20)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 54, scope: !20)
  br label %e82, !dbg !DILocation(line: 54, scope: !20)
b9:
  %v172 = phi i32 [ %v76, %e82 ], [ %v183, %e90 ]
  %v173 = phi i64 [ 0, %e82 ], [ %v186, %e90 ]
  %t83 = inttoptr i64 %v160 to ptr addrspace(258), !dbg !DILocation(line: 55, scope: !20)
  %v174 = load i64, ptr addrspace(258) %t83, align 1, !alias.scope !{!{!"4.0.0", !{!"4.0"}}}, !noalias !{!{!"4.0.2", !{!"4.0"}}}, !dbg !DILocation(line: 55, scope: !20)
  %v177 = mul i64 %v173, 8, !dbg !DILocation(line: 56, scope: !20)
  %v178 = add i64 %v161, %v177, !dbg !DILocation(line: 56, scope: !20)
  %t84 = inttoptr i64 %v161 to ptr addrspace(258), !dbg !DILocation(line: 57, scope: !20)
  %t85 = getelementptr inbounds i8, ptr addrspace(258) %t84, i64 %v177, !dbg !DILocation(line: 57, scope: !20)
  %v175 = load i64, ptr addrspace(258) %t85, align 1, !alias.scope !{!{!"4.0.1", !{!"4.0"}}}, !noalias !{!{!"4.0.2", !{!"4.0"}}}, !dbg !DILocation(line: 57, scope: !20)
  %v179 = xor i64 %v174, %v175, !dbg !DILocation(line: 57, scope: !20)
  %v181 = mul i64 %v173, 8, !dbg !DILocation(line: 58, scope: !20)
  %v182 = add i64 %v162, %v181, !dbg !DILocation(line: 58, scope: !20)
  %t86 = inttoptr i64 %v162 to ptr addrspace(258), !dbg !DILocation(line: 59, scope: !20)
  %t87 = getelementptr inbounds i8, ptr addrspace(258) %t86, i64 %v181, !dbg !DILocation(line: 59, scope: !20)
  store i64 %v179, ptr addrspace(258) %t87, align 1, !alias.scope !{!{!"4.0.2", !{!"4.0"}}}, !noalias !{!{!"4.0.0", !{!"4.0"}}, !{!"4.0.1", !{!"4.0"}}}, !dbg !DILocation(line: 59, scope: !20)
  %v183 = add i32 %v172, 16, !dbg !DILocation(line: 59, scope: !20)
  %t88 = icmp ne i64 %v173, %v170, !dbg !DILocation(line: 60, scope: !20)
  %v184 = zext i1 %t88 to i8, !dbg !DILocation(line: 60, scope: !20)
  %v186 = add i64 %v173, 1, !dbg !DILocation(line: 60, scope: !20)
  %t89 = icmp ne i8 %v184, 0, !dbg !DILocation(line: 61, scope: !20)
  br i1 %t89, label %e90, label %b10, !dbg !DILocation(line: 61, scope: !20)
b10:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 62, scope: !20)
  br label %b6, !dbg !DILocation(line: 62, scope: !20)
e5:
  br label %b2, !dbg !DILocation(line: 4, scope: !20)
e12:
  br label %b7, !dbg !DILocation(line: 11, scope: !20)
e67:
  br label %b3, !dbg !DILocation(line: 40, scope: !20)
e70:
  br label %b2, !dbg !DILocation(line: 45, scope: !20)
e81:
  br label %b3, !dbg !DILocation(line: 52, scope: !20)
e82:
  br label %b9, !dbg !DILocation(line: 54, scope: !20)
e90:
  br label %b9, !dbg !DILocation(line: 61, scope: !20)
}

; trap: function 5
define dso_local void @wf5(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !21 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !21)
  %v5 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !21)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !21)
  %v6 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !21)
  %t3 = inttoptr i64 %v6 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !21)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 3, scope: !21)
  %v7 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 3, scope: !21)
  br label %e5, !dbg !DILocation(line: 4, scope: !21)
b2:
  %v10 = phi i32 [ %v36, %e43 ], [ %v41, %e50 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 4, scope: !21)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 4, scope: !21)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !21)
  unreachable
g7:
  %v11 = add i32 %v2, %v10, !dbg !DILocation(line: 5, scope: !21)
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 6, scope: !21)
  %v12 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !21)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 6, scope: !21)
  %v13 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 6, scope: !21)
  %v14 = zext i32 %v11 to i64, !dbg !DILocation(line: 6, scope: !21)
  %t10 = inttoptr i64 %v13 to ptr addrspace(258), !dbg !DILocation(line: 7, scope: !21)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 7, scope: !21)
  %v15 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 7, scope: !21)
  %t12 = icmp uge i64 %v14, %v15, !dbg !DILocation(line: 7, scope: !21)
  %v16 = zext i1 %t12 to i8, !dbg !DILocation(line: 7, scope: !21)
  %t13 = icmp ne i8 %v16, 0, !dbg !DILocation(line: 7, scope: !21)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 7, scope: !21)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 7, scope: !21)
  unreachable
g14:
  %v17 = add i64 %v12, %v14, !dbg !DILocation(line: 8, scope: !21)
  %t15 = inttoptr i64 %v12 to ptr, !dbg !DILocation(line: 8, scope: !21)
  %t16 = getelementptr i8, ptr %t15, i64 %v14, !dbg !DILocation(line: 8, scope: !21)
  %v18 = load volatile i64, ptr %t16, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 8, scope: !21)
  %v19 = add i32 %v2, %v10, !dbg !DILocation(line: 9, scope: !21)
  %v20 = zext i32 %v19 to i64, !dbg !DILocation(line: 10, scope: !21)
  %t17 = inttoptr i64 %v13 to ptr addrspace(258), !dbg !DILocation(line: 11, scope: !21)
  %t18 = getelementptr i8, ptr addrspace(258) %t17, i64 8, !dbg !DILocation(line: 11, scope: !21)
  %v21 = load atomic i64, ptr addrspace(258) %t18 unordered, align 8, !dbg !DILocation(line: 11, scope: !21)
  %t19 = icmp uge i64 %v20, %v21, !dbg !DILocation(line: 11, scope: !21)
  %v22 = zext i1 %t19 to i8, !dbg !DILocation(line: 11, scope: !21)
  %t20 = icmp ne i8 %v22, 0, !dbg !DILocation(line: 11, scope: !21)
  br i1 %t20, label %x21, label %g21, !prof !1, !dbg !DILocation(line: 11, scope: !21)
x21:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 3\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 11, scope: !21)
  unreachable
g21:
  %v23 = add i64 %v12, %v20, !dbg !DILocation(line: 12, scope: !21)
  %t22 = inttoptr i64 %v12 to ptr, !dbg !DILocation(line: 12, scope: !21)
  %t23 = getelementptr i8, ptr %t22, i64 %v20, !dbg !DILocation(line: 12, scope: !21)
  %t24 = getelementptr i8, ptr %t23, i64 8, !dbg !DILocation(line: 12, scope: !21)
  %v24 = load volatile i64, ptr %t24, align 1, !pcsections !{!"ft", !{i32 4}}, !dbg !DILocation(line: 12, scope: !21)
  %v25 = add i32 %v2, %v10, !dbg !DILocation(line: 13, scope: !21)
  %v26 = zext i32 %v25 to i64, !dbg !DILocation(line: 14, scope: !21)
  %t25 = inttoptr i64 %v13 to ptr addrspace(258), !dbg !DILocation(line: 15, scope: !21)
  %t26 = getelementptr i8, ptr addrspace(258) %t25, i64 8, !dbg !DILocation(line: 15, scope: !21)
  %v27 = load atomic i64, ptr addrspace(258) %t26 unordered, align 8, !dbg !DILocation(line: 15, scope: !21)
  %t27 = icmp uge i64 %v26, %v27, !dbg !DILocation(line: 15, scope: !21)
  %v28 = zext i1 %t27 to i8, !dbg !DILocation(line: 15, scope: !21)
  %t28 = icmp ne i8 %v28, 0, !dbg !DILocation(line: 15, scope: !21)
  br i1 %t28, label %x29, label %g29, !prof !1, !dbg !DILocation(line: 15, scope: !21)
x29:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 5\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 15, scope: !21)
  unreachable
g29:
  %v29 = add i64 %v12, %v26, !dbg !DILocation(line: 16, scope: !21)
  %t30 = inttoptr i64 %v12 to ptr, !dbg !DILocation(line: 16, scope: !21)
  %t31 = getelementptr i8, ptr %t30, i64 %v26, !dbg !DILocation(line: 16, scope: !21)
  %t32 = getelementptr i8, ptr %t31, i64 8, !dbg !DILocation(line: 16, scope: !21)
  store volatile i64 %v18, ptr %t32, align 1, !pcsections !{!"ft", !{i32 6}}, !dbg !DILocation(line: 16, scope: !21)
  %v30 = add i32 %v2, %v10, !dbg !DILocation(line: 17, scope: !21)
  %v31 = zext i32 %v30 to i64, !dbg !DILocation(line: 18, scope: !21)
  %t33 = inttoptr i64 %v13 to ptr addrspace(258), !dbg !DILocation(line: 19, scope: !21)
  %t34 = getelementptr i8, ptr addrspace(258) %t33, i64 8, !dbg !DILocation(line: 19, scope: !21)
  %v32 = load atomic i64, ptr addrspace(258) %t34 unordered, align 8, !dbg !DILocation(line: 19, scope: !21)
  %t35 = icmp uge i64 %v31, %v32, !dbg !DILocation(line: 19, scope: !21)
  %v33 = zext i1 %t35 to i8, !dbg !DILocation(line: 19, scope: !21)
  %t36 = icmp ne i8 %v33, 0, !dbg !DILocation(line: 19, scope: !21)
  br i1 %t36, label %x37, label %g37, !prof !1, !dbg !DILocation(line: 19, scope: !21)
x37:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf5, 5, 7\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 19, scope: !21)
  unreachable
g37:
  %v34 = add i64 %v12, %v31, !dbg !DILocation(line: 20, scope: !21)
  %t38 = inttoptr i64 %v12 to ptr, !dbg !DILocation(line: 20, scope: !21)
  %t39 = getelementptr i8, ptr %t38, i64 %v31, !dbg !DILocation(line: 20, scope: !21)
  %t40 = getelementptr i8, ptr %t39, i64 16, !dbg !DILocation(line: 20, scope: !21)
  store volatile i64 %v24, ptr %t40, align 1, !pcsections !{!"ft", !{i32 8}}, !dbg !DILocation(line: 20, scope: !21)
  %v36 = add i32 %v10, 16, !dbg !DILocation(line: 22, scope: !21)
  %v38 = zext i32 %v36 to i64, !dbg !DILocation(line: 24, scope: !21)
  %t41 = icmp ne i64 %v38, 1600, !dbg !DILocation(line: 24, scope: !21)
  %v40 = zext i1 %t41 to i8, !dbg !DILocation(line: 24, scope: !21)
  %t42 = icmp ne i8 %v40, 0, !dbg !DILocation(line: 25, scope: !21)
  br i1 %t42, label %e43, label %b4, !dbg !DILocation(line: 25, scope: !21)
b3:
  ret void, !dbg !DILocation(line: 26, scope: !21)
b4:
  br label %b3, !dbg !DILocation(line: 27, scope: !21)
b5:
  %v41 = phi i32 [ %v3, %e5 ]
  %v43 = add i32 -1584, %v41, !dbg !DILocation(line: 28, scope: !21)
  %v44 = sub i32 0, %v43, !dbg !DILocation(line: 28, scope: !21)
  %v45 = zext i32 %v44 to i64, !dbg !DILocation(line: 28, scope: !21)
  %v47 = and i64 %v45, 15, !dbg !DILocation(line: 28, scope: !21)
  %v48 = sub i64 0, %v47, !dbg !DILocation(line: 28, scope: !21)
  %v50 = lshr i64 %v45, 4, !dbg !DILocation(line: 28, scope: !21)
  %v52 = add i32 0, %v2, !dbg !DILocation(line: 28, scope: !21)
  %v53 = add i32 %v52, %v41, !dbg !DILocation(line: 28, scope: !21)
  %v54 = zext i32 %v53 to i64, !dbg !DILocation(line: 28, scope: !21)
  %v56 = mul i64 %v50, 16, !dbg !DILocation(line: 28, scope: !21)
  %v57 = add i64 %v54, %v56, !dbg !DILocation(line: 28, scope: !21)
  %t44 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 29, scope: !21)
  %v58 = load i64, ptr addrspace(258) %t44, align 8, !invariant.load !0, !dbg !DILocation(line: 29, scope: !21)
  %t45 = inttoptr i64 %v58 to ptr addrspace(258), !dbg !DILocation(line: 30, scope: !21)
  %t46 = getelementptr i8, ptr addrspace(258) %t45, i64 8, !dbg !DILocation(line: 30, scope: !21)
  %v59 = load atomic i64, ptr addrspace(258) %t46 unordered, align 8, !dbg !DILocation(line: 30, scope: !21)
  %v61 = add i64 %v57, 24, !dbg !DILocation(line: 30, scope: !21)
  %v62 = sub i64 %v59, %v61, !dbg !DILocation(line: 30, scope: !21)
  %v63 = or i64 %v48, %v62, !dbg !DILocation(line: 30, scope: !21)
  %t47 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 31, scope: !21)
  %v64 = load i64, ptr addrspace(258) %t47, align 8, !invariant.load !0, !dbg !DILocation(line: 31, scope: !21)
  %v66 = add i64 %v54, 0, !dbg !DILocation(line: 32, scope: !21)
  %v67 = add i64 %v64, %v66, !dbg !DILocation(line: 32, scope: !21)
  %v69 = add i64 %v54, 0, !dbg !DILocation(line: 32, scope: !21)
  %v70 = add i64 %v64, %v69, !dbg !DILocation(line: 32, scope: !21)
  %v72 = add i64 %v61, 0, !dbg !DILocation(line: 32, scope: !21)
  %v73 = add i64 %v64, %v72, !dbg !DILocation(line: 32, scope: !21)
  %t48 = icmp slt i64 %v63, 0, !dbg !DILocation(line: 32, scope: !21)
  %v75 = zext i1 %t48 to i8, !dbg !DILocation(line: 32, scope: !21)
  %t49 = icmp ne i8 %v75, 0, !dbg !DILocation(line: 32, scope: !21)
  br i1 %t49, label %e50, label %b6, !dbg !DILocation(line: 32, scope: !21)
b6:
  %v76 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v63, i64 0, i64 %v64, i64 %v67) #3, !dbg !DILocation(line: 32, scope: !21)
  %v78 = and i64 %v50, 4294967295, !dbg !DILocation(line: 32, scope: !21)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 34, scope: !21)
  br label %e51, !dbg !DILocation(line: 34, scope: !21)
b7:
  %v80 = phi i32 [ %v41, %e51 ], [ %v96, %e65 ]
  %v81 = phi i64 [ 0, %e51 ], [ %v99, %e65 ]
  %v84 = mul i64 %v81, 16, !dbg !DILocation(line: 35, scope: !21)
  %v85 = add i64 %v76, %v84, !dbg !DILocation(line: 35, scope: !21)
  %t52 = inttoptr i64 %v76 to ptr addrspace(258), !dbg !DILocation(line: 36, scope: !21)
  %t53 = getelementptr inbounds i8, ptr addrspace(258) %t52, i64 %v84, !dbg !DILocation(line: 36, scope: !21)
  %v82 = load i64, ptr addrspace(258) %t53, align 1, !dbg !DILocation(line: 36, scope: !21)
  %v88 = mul i64 %v81, 16, !dbg !DILocation(line: 37, scope: !21)
  %v89 = add i64 %v76, %v88, !dbg !DILocation(line: 37, scope: !21)
  %t54 = inttoptr i64 %v76 to ptr addrspace(258), !dbg !DILocation(line: 38, scope: !21)
  %t55 = getelementptr inbounds i8, ptr addrspace(258) %t54, i64 %v88, !dbg !DILocation(line: 38, scope: !21)
  %t56 = getelementptr inbounds i8, ptr addrspace(258) %t55, i64 8, !dbg !DILocation(line: 38, scope: !21)
  %v86 = load i64, ptr addrspace(258) %t56, align 1, !dbg !DILocation(line: 38, scope: !21)
  %v91 = mul i64 %v81, 16, !dbg !DILocation(line: 39, scope: !21)
  %v92 = add i64 %v76, %v91, !dbg !DILocation(line: 39, scope: !21)
  %t57 = inttoptr i64 %v76 to ptr addrspace(258), !dbg !DILocation(line: 40, scope: !21)
  %t58 = getelementptr inbounds i8, ptr addrspace(258) %t57, i64 %v91, !dbg !DILocation(line: 40, scope: !21)
  %t59 = getelementptr inbounds i8, ptr addrspace(258) %t58, i64 8, !dbg !DILocation(line: 40, scope: !21)
  store i64 %v82, ptr addrspace(258) %t59, align 1, !dbg !DILocation(line: 40, scope: !21)
  %v94 = mul i64 %v81, 16, !dbg !DILocation(line: 41, scope: !21)
  %v95 = add i64 %v76, %v94, !dbg !DILocation(line: 41, scope: !21)
  %t60 = inttoptr i64 %v76 to ptr addrspace(258), !dbg !DILocation(line: 42, scope: !21)
  %t61 = getelementptr inbounds i8, ptr addrspace(258) %t60, i64 %v94, !dbg !DILocation(line: 42, scope: !21)
  %t62 = getelementptr inbounds i8, ptr addrspace(258) %t61, i64 16, !dbg !DILocation(line: 42, scope: !21)
  store i64 %v86, ptr addrspace(258) %t62, align 1, !dbg !DILocation(line: 42, scope: !21)
  %v96 = add i32 %v80, 16, !dbg !DILocation(line: 42, scope: !21)
  %t63 = icmp ne i64 %v81, %v78, !dbg !DILocation(line: 43, scope: !21)
  %v97 = zext i1 %t63 to i8, !dbg !DILocation(line: 43, scope: !21)
  %v99 = add i64 %v81, 1, !dbg !DILocation(line: 43, scope: !21)
  %t64 = icmp ne i8 %v97, 0, !dbg !DILocation(line: 44, scope: !21)
  br i1 %t64, label %e65, label %b8, !dbg !DILocation(line: 44, scope: !21)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 45, scope: !21)
  br label %b4, !dbg !DILocation(line: 45, scope: !21)
e5:
  br label %b5, !dbg !DILocation(line: 4, scope: !21)
e43:
  br label %b2, !dbg !DILocation(line: 25, scope: !21)
e50:
  br label %b2, !dbg !DILocation(line: 32, scope: !21)
e51:
  br label %b7, !dbg !DILocation(line: 34, scope: !21)
e65:
  br label %b7, !dbg !DILocation(line: 44, scope: !21)
}

; trap: function 6
define dso_local void @wf6(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !22 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !22)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !22)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !22)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !22)
  %t3 = inttoptr i64 %v5 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !22)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 2, scope: !22)
  %v6 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 2, scope: !22)
  br label %e5, !dbg !DILocation(line: 3, scope: !22)
b2:
  %v8 = phi i32 [ %v2, %e5 ], [ %v25, %e24 ]
  %v26 = phi i32 [ %v3, %e5 ], [ %v28, %e24 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 3, scope: !22)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 3, scope: !22)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf6, 6, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 3, scope: !22)
  unreachable
g7:
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 5, scope: !22)
  %v10 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !22)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 5, scope: !22)
  %v11 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !22)
  %v12 = zext i32 %v8 to i64, !dbg !DILocation(line: 5, scope: !22)
  %t10 = inttoptr i64 %v11 to ptr addrspace(258), !dbg !DILocation(line: 6, scope: !22)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 6, scope: !22)
  %v13 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 6, scope: !22)
  %t12 = icmp uge i64 %v12, %v13, !dbg !DILocation(line: 6, scope: !22)
  %v14 = zext i1 %t12 to i8, !dbg !DILocation(line: 6, scope: !22)
  %t13 = icmp ne i8 %v14, 0, !dbg !DILocation(line: 6, scope: !22)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 6, scope: !22)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf6, 6, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 6, scope: !22)
  unreachable
g14:
  %v15 = add i64 %v10, %v12, !dbg !DILocation(line: 7, scope: !22)
  %t15 = inttoptr i64 %v10 to ptr, !dbg !DILocation(line: 7, scope: !22)
  %t16 = getelementptr i8, ptr %t15, i64 %v12, !dbg !DILocation(line: 7, scope: !22)
  store volatile i32 0, ptr %t16, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 7, scope: !22)
  %v17 = zext i32 1 to i64, !dbg !DILocation(line: 9, scope: !22)
  %t17 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 9, scope: !22)
  %v19 = load i64, ptr addrspace(258) %t17, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !22)
  %t18 = inttoptr i64 %v19 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !22)
  %v20 = load i64, ptr addrspace(258) %t18, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !22)
  %t19 = inttoptr i64 %v20 to ptr, !dbg !DILocation(line: 9, scope: !22)
  %v21 = call i64 %t19(i64 %v0, i32 0, i64 %v17) #1, !dbg !DILocation(line: 9, scope: !22)
  %t20 = icmp slt i64 %v21, -1, !dbg !DILocation(line: 9, scope: !22)
  %v23 = zext i1 %t20 to i8, !dbg !DILocation(line: 9, scope: !22)
  %t21 = icmp ne i8 %v23, 0, !dbg !DILocation(line: 9, scope: !22)
  br i1 %t21, label %x22, label %g22, !prof !1, !dbg !DILocation(line: 9, scope: !22)
x22:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf6, 6, 3\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 9, scope: !22)
  unreachable
g22:
  %v24 = trunc i64 %v21 to i32, !dbg !DILocation(line: 9, scope: !22)
  %v25 = add i32 %v8, %v24, !dbg !DILocation(line: 10, scope: !22)
  %v28 = sub i32 %v26, 1, !dbg !DILocation(line: 12, scope: !22)
  %t23 = icmp ne i32 %v28, 0, !dbg !DILocation(line: 13, scope: !22)
  br i1 %t23, label %e24, label %b3, !dbg !DILocation(line: 13, scope: !22)
b3:
  ret void, !dbg !DILocation(line: 14, scope: !22)
e5:
  br label %b2, !dbg !DILocation(line: 3, scope: !22)
e24:
  br label %b2, !dbg !DILocation(line: 13, scope: !22)
}

; trap: function 7
define dso_local i32 @wf7(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !23 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = bitcast i64 0 to double, !dbg !DILocation(line: 1, scope: !23)
  %v5 = call double asm "", "=x,0"(double %t1) #3, !dbg !DILocation(line: 1, scope: !23)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !23)
  %v8 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !23)
  %t3 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !23)
  %v9 = load i64, ptr addrspace(258) %t3, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !23)
  %t4 = inttoptr i64 %v9 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !23)
  %t5 = getelementptr i8, ptr addrspace(258) %t4, i64 8, !dbg !DILocation(line: 3, scope: !23)
  %v10 = load atomic i64, ptr addrspace(258) %t5 unordered, align 8, !dbg !DILocation(line: 3, scope: !23)
  %t6 = call double asm "", "=x,0"(double %v5) #3, !dbg !DILocation(line: 4, scope: !23)
  br label %e7, !dbg !DILocation(line: 4, scope: !23)
b2:
  %v13 = phi i32 [ %v31, %e24 ], [ %v35, %e32 ]
  %v24 = phi double [ %v27, %e24 ], [ %v36, %e32 ]
  %v28 = phi i32 [ %v29, %e24 ], [ %v37, %e32 ]
  %t8 = icmp ne i32 0, 0, !dbg !DILocation(line: 4, scope: !23)
  br i1 %t8, label %x9, label %g9, !prof !1, !dbg !DILocation(line: 4, scope: !23)
x9:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf7, 7, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !23)
  unreachable
g9:
  %v15 = shl i32 %v13, 3, !dbg !DILocation(line: 6, scope: !23)
  %v16 = add i32 %v2, %v15, !dbg !DILocation(line: 7, scope: !23)
  %t10 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 8, scope: !23)
  %v17 = load i64, ptr addrspace(258) %t10, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !23)
  %t11 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 8, scope: !23)
  %v18 = load i64, ptr addrspace(258) %t11, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !23)
  %v19 = zext i32 %v16 to i64, !dbg !DILocation(line: 8, scope: !23)
  %t12 = inttoptr i64 %v18 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !23)
  %t13 = getelementptr i8, ptr addrspace(258) %t12, i64 8, !dbg !DILocation(line: 9, scope: !23)
  %v20 = load atomic i64, ptr addrspace(258) %t13 unordered, align 8, !dbg !DILocation(line: 9, scope: !23)
  %t14 = icmp uge i64 %v19, %v20, !dbg !DILocation(line: 9, scope: !23)
  %v21 = zext i1 %t14 to i8, !dbg !DILocation(line: 9, scope: !23)
  %t15 = icmp ne i8 %v21, 0, !dbg !DILocation(line: 9, scope: !23)
  br i1 %t15, label %x16, label %g16, !prof !1, !dbg !DILocation(line: 9, scope: !23)
x16:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf7, 7, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 9, scope: !23)
  unreachable
g16:
  %v22 = add i64 %v17, %v19, !dbg !DILocation(line: 10, scope: !23)
  %t17 = inttoptr i64 %v17 to ptr, !dbg !DILocation(line: 10, scope: !23)
  %t18 = getelementptr i8, ptr %t17, i64 %v19, !dbg !DILocation(line: 10, scope: !23)
  %v23 = load volatile double, ptr %t18, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 10, scope: !23)
  %t19 = fcmp olt double %v23, %v24, !dbg !DILocation(line: 11, scope: !23)
  %v25 = zext i1 %t19 to i8, !dbg !DILocation(line: 11, scope: !23)
  %v26 = zext i8 %v25 to i32, !dbg !DILocation(line: 12, scope: !23)
  %t20 = icmp ne i32 %v26, 0, !dbg !DILocation(line: 13, scope: !23)
  %v27 = select i1 %t20, double %v23, double %v24, !dbg !DILocation(line: 13, scope: !23)
  %t21 = icmp ne i32 %v26, 0, !dbg !DILocation(line: 14, scope: !23)
  %v29 = select i1 %t21, i32 %v13, i32 %v28, !dbg !DILocation(line: 14, scope: !23)
  %v31 = add i32 %v13, 1, !dbg !DILocation(line: 16, scope: !23)
  %t22 = icmp slt i32 %v31, %v3, !dbg !DILocation(line: 17, scope: !23)
  %v33 = zext i1 %t22 to i8, !dbg !DILocation(line: 17, scope: !23)
  %t23 = icmp ne i8 %v33, 0, !dbg !DILocation(line: 18, scope: !23)
  br i1 %t23, label %e24, label %e25, !dbg !DILocation(line: 18, scope: !23)
b3:
  ret i32 %v34, !dbg !DILocation(line: 19, scope: !23)
b4:
  %v34 = phi i32 [ %v29, %e25 ], [ %v95, %e42 ]
  br label %b3, !dbg !DILocation(line: 20, scope: !23)
b5:
  %v35 = phi i32 [ 0, %e7 ]
  %v36 = phi double [ %t6, %e7 ]
  %v37 = phi i32 [ 0, %e7 ]
  %v39 = add i32 1, %v35, !dbg !DILocation(line: 21, scope: !23)
  %v40 = sext i32 %v39 to i64, !dbg !DILocation(line: 21, scope: !23)
  %v42 = add i32 0, %v3, !dbg !DILocation(line: 21, scope: !23)
  %v43 = sext i32 %v42 to i64, !dbg !DILocation(line: 21, scope: !23)
  %v45 = sub i64 %v43, %v40, !dbg !DILocation(line: 21, scope: !23)
  %v46 = sub i64 2147483647, %v43, !dbg !DILocation(line: 21, scope: !23)
  %v48 = add i64 %v45, 0, !dbg !DILocation(line: 21, scope: !23)
  %v50 = call i64 @llvm.smax.i64(i64 %v48, i64 0), !dbg !DILocation(line: 21, scope: !23)
  %v52 = lshr i64 %v50, 0, !dbg !DILocation(line: 21, scope: !23)
  %v54 = add i32 0, %v2, !dbg !DILocation(line: 21, scope: !23)
  %v56 = mul i32 %v35, 8, !dbg !DILocation(line: 21, scope: !23)
  %v57 = add i32 %v54, %v56, !dbg !DILocation(line: 21, scope: !23)
  %v58 = zext i32 %v57 to i64, !dbg !DILocation(line: 21, scope: !23)
  %v60 = mul i64 %v52, 8, !dbg !DILocation(line: 21, scope: !23)
  %v61 = add i64 %v58, %v60, !dbg !DILocation(line: 21, scope: !23)
  %t26 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 22, scope: !23)
  %v62 = load i64, ptr addrspace(258) %t26, align 8, !invariant.load !0, !dbg !DILocation(line: 22, scope: !23)
  %t27 = inttoptr i64 %v62 to ptr addrspace(258), !dbg !DILocation(line: 23, scope: !23)
  %t28 = getelementptr i8, ptr addrspace(258) %t27, i64 8, !dbg !DILocation(line: 23, scope: !23)
  %v63 = load atomic i64, ptr addrspace(258) %t28 unordered, align 8, !dbg !DILocation(line: 23, scope: !23)
  %v65 = add i64 %v61, 8, !dbg !DILocation(line: 23, scope: !23)
  %v66 = sub i64 %v63, %v65, !dbg !DILocation(line: 23, scope: !23)
  %v67 = or i64 %v46, %v66, !dbg !DILocation(line: 23, scope: !23)
  %t29 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 24, scope: !23)
  %v68 = load i64, ptr addrspace(258) %t29, align 8, !invariant.load !0, !dbg !DILocation(line: 24, scope: !23)
  %v70 = add i64 %v58, 0, !dbg !DILocation(line: 25, scope: !23)
  %v71 = add i64 %v68, %v70, !dbg !DILocation(line: 25, scope: !23)
  %v73 = add i64 %v58, 0, !dbg !DILocation(line: 25, scope: !23)
  %v74 = add i64 %v68, %v73, !dbg !DILocation(line: 25, scope: !23)
  %v76 = add i64 %v65, 0, !dbg !DILocation(line: 25, scope: !23)
  %v77 = add i64 %v68, %v76, !dbg !DILocation(line: 25, scope: !23)
  %t30 = icmp slt i64 %v67, 0, !dbg !DILocation(line: 25, scope: !23)
  %v79 = zext i1 %t30 to i8, !dbg !DILocation(line: 25, scope: !23)
  %t31 = icmp ne i8 %v79, 0, !dbg !DILocation(line: 25, scope: !23)
  br i1 %t31, label %e32, label %b6, !dbg !DILocation(line: 25, scope: !23)
b6:
  %v80 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v67, i64 0, i64 %v68, i64 %v71) #3, !dbg !DILocation(line: 25, scope: !23)
  %v82 = and i64 %v52, 4294967295, !dbg !DILocation(line: 25, scope: !23)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 27, scope: !23)
  br label %e33, !dbg !DILocation(line: 27, scope: !23)
b7:
  %v84 = phi i32 [ %v35, %e33 ], [ %v96, %e41 ]
  %v85 = phi double [ %v36, %e33 ], [ %v94, %e41 ]
  %v86 = phi i32 [ %v37, %e33 ], [ %v95, %e41 ]
  %v87 = phi i64 [ 0, %e33 ], [ %v99, %e41 ]
  %v90 = mul i64 %v87, 8, !dbg !DILocation(line: 28, scope: !23)
  %v91 = add i64 %v80, %v90, !dbg !DILocation(line: 28, scope: !23)
  %t34 = inttoptr i64 %v80 to ptr addrspace(258), !dbg !DILocation(line: 29, scope: !23)
  %t35 = getelementptr inbounds i8, ptr addrspace(258) %t34, i64 %v90, !dbg !DILocation(line: 29, scope: !23)
  %v88 = load double, ptr addrspace(258) %t35, align 1, !dbg !DILocation(line: 29, scope: !23)
  %t36 = fcmp olt double %v88, %v85, !dbg !DILocation(line: 29, scope: !23)
  %v92 = zext i1 %t36 to i8, !dbg !DILocation(line: 29, scope: !23)
  %v93 = zext i8 %v92 to i32, !dbg !DILocation(line: 29, scope: !23)
  %t37 = icmp ne i32 %v93, 0, !dbg !DILocation(line: 29, scope: !23)
  %v94 = select i1 %t37, double %v88, double %v85, !dbg !DILocation(line: 29, scope: !23)
  %t38 = icmp ne i32 %v93, 0, !dbg !DILocation(line: 29, scope: !23)
  %v95 = select i1 %t38, i32 %v84, i32 %v86, !dbg !DILocation(line: 29, scope: !23)
  %v96 = add i32 %v84, 1, !dbg !DILocation(line: 29, scope: !23)
  %t39 = icmp ne i64 %v87, %v82, !dbg !DILocation(line: 30, scope: !23)
  %v97 = zext i1 %t39 to i8, !dbg !DILocation(line: 30, scope: !23)
  %v99 = add i64 %v87, 1, !dbg !DILocation(line: 30, scope: !23)
  %t40 = icmp ne i8 %v97, 0, !dbg !DILocation(line: 31, scope: !23)
  br i1 %t40, label %e41, label %b8, !dbg !DILocation(line: 31, scope: !23)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 32, scope: !23)
  br label %e42, !dbg !DILocation(line: 32, scope: !23)
e7:
  br label %b5, !dbg !DILocation(line: 4, scope: !23)
e24:
  br label %b2, !dbg !DILocation(line: 18, scope: !23)
e25:
  br label %b4, !dbg !DILocation(line: 18, scope: !23)
e32:
  br label %b2, !dbg !DILocation(line: 25, scope: !23)
e33:
  br label %b7, !dbg !DILocation(line: 27, scope: !23)
e41:
  br label %b7, !dbg !DILocation(line: 31, scope: !23)
e42:
  br label %b4, !dbg !DILocation(line: 32, scope: !23)
}

; trap: function 8
define dso_local i32 @wf8(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !24 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !24)
  %v6 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !24)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !24)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !24)
  %t3 = inttoptr i64 %v7 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !24)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 3, scope: !24)
  %v8 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 3, scope: !24)
  br label %e5, !dbg !DILocation(line: 4, scope: !24)
b2:
  %v11 = phi i32 [ %v30, %e24 ], [ %v38, %e32 ]
  %v22 = phi i32 [ %v35, %e24 ], [ %v39, %e32 ]
  %v26 = phi i32 [ %v36, %e24 ], [ %v40, %e32 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 4, scope: !24)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 4, scope: !24)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf8, 8, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !24)
  unreachable
g7:
  %v13 = shl i32 %v11, 2, !dbg !DILocation(line: 6, scope: !24)
  %v14 = add i32 %v2, %v13, !dbg !DILocation(line: 7, scope: !24)
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 8, scope: !24)
  %v15 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !24)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 8, scope: !24)
  %v16 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !24)
  %v17 = zext i32 %v14 to i64, !dbg !DILocation(line: 8, scope: !24)
  %t10 = inttoptr i64 %v16 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !24)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 9, scope: !24)
  %v18 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 9, scope: !24)
  %t12 = icmp uge i64 %v17, %v18, !dbg !DILocation(line: 9, scope: !24)
  %v19 = zext i1 %t12 to i8, !dbg !DILocation(line: 9, scope: !24)
  %t13 = icmp ne i8 %v19, 0, !dbg !DILocation(line: 9, scope: !24)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 9, scope: !24)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf8, 8, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 9, scope: !24)
  unreachable
g14:
  %v20 = add i64 %v15, %v17, !dbg !DILocation(line: 10, scope: !24)
  %t15 = inttoptr i64 %v15 to ptr, !dbg !DILocation(line: 10, scope: !24)
  %t16 = getelementptr i8, ptr %t15, i64 %v17, !dbg !DILocation(line: 10, scope: !24)
  %v21 = load volatile i32, ptr %t16, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 10, scope: !24)
  %t17 = call i32 asm "", "=r,0"(i32 %v21) #3, !dbg !DILocation(line: 11, scope: !24)
  %v23 = add i32 %t17, %v22, !dbg !DILocation(line: 11, scope: !24)
  %t18 = icmp slt i32 %v23, 9, !dbg !DILocation(line: 13, scope: !24)
  %v25 = zext i1 %t18 to i8, !dbg !DILocation(line: 13, scope: !24)
  %t19 = icmp ne i8 %v25, 0, !dbg !DILocation(line: 14, scope: !24)
  br i1 %t19, label %b4, label %e20, !dbg !DILocation(line: 14, scope: !24)
b4:
  %v27 = xor i32 %v23, %v26, !dbg !DILocation(line: 15, scope: !24)
  br label %e21, !dbg !DILocation(line: 16, scope: !24)
b3:
  %v35 = phi i32 [ %v22, %e20 ], [ %v23, %e21 ]
  %v36 = phi i32 [ %v26, %e20 ], [ %v27, %e21 ]
  %v30 = add i32 %v11, 1, !dbg !DILocation(line: 18, scope: !24)
  %t22 = icmp slt i32 %v30, %v3, !dbg !DILocation(line: 19, scope: !24)
  %v33 = zext i1 %t22 to i8, !dbg !DILocation(line: 19, scope: !24)
  %t23 = icmp ne i8 %v33, 0, !dbg !DILocation(line: 20, scope: !24)
  br i1 %t23, label %e24, label %e25, !dbg !DILocation(line: 20, scope: !24)
b6:
  ret i32 %v37, !dbg !DILocation(line: 21, scope: !24)
b7:
  %v37 = phi i32 [ %v36, %e25 ], [ %v92, %e43 ]
  br label %b6, !dbg !DILocation(line: 22, scope: !24)
b8:
  %v38 = phi i32 [ 0, %e5 ]
  %v39 = phi i32 [ 0, %e5 ]
  %v40 = phi i32 [ 0, %e5 ]
  %v42 = add i32 1, %v38, !dbg !DILocation(line: 23, scope: !24)
  %v43 = sext i32 %v42 to i64, !dbg !DILocation(line: 23, scope: !24)
  %v45 = add i32 0, %v3, !dbg !DILocation(line: 23, scope: !24)
  %v46 = sext i32 %v45 to i64, !dbg !DILocation(line: 23, scope: !24)
  %v48 = sub i64 %v46, %v43, !dbg !DILocation(line: 23, scope: !24)
  %v49 = sub i64 2147483647, %v46, !dbg !DILocation(line: 23, scope: !24)
  %v51 = add i64 %v48, 0, !dbg !DILocation(line: 23, scope: !24)
  %v53 = call i64 @llvm.smax.i64(i64 %v51, i64 0), !dbg !DILocation(line: 23, scope: !24)
  %v55 = lshr i64 %v53, 0, !dbg !DILocation(line: 23, scope: !24)
  %v57 = add i32 0, %v2, !dbg !DILocation(line: 23, scope: !24)
  %v59 = mul i32 %v38, 4, !dbg !DILocation(line: 23, scope: !24)
  %v60 = add i32 %v57, %v59, !dbg !DILocation(line: 23, scope: !24)
  %v61 = zext i32 %v60 to i64, !dbg !DILocation(line: 23, scope: !24)
  %v63 = mul i64 %v55, 4, !dbg !DILocation(line: 23, scope: !24)
  %v64 = add i64 %v61, %v63, !dbg !DILocation(line: 23, scope: !24)
  %t26 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 24, scope: !24)
  %v65 = load i64, ptr addrspace(258) %t26, align 8, !invariant.load !0, !dbg !DILocation(line: 24, scope: !24)
  %t27 = inttoptr i64 %v65 to ptr addrspace(258), !dbg !DILocation(line: 25, scope: !24)
  %t28 = getelementptr i8, ptr addrspace(258) %t27, i64 8, !dbg !DILocation(line: 25, scope: !24)
  %v66 = load atomic i64, ptr addrspace(258) %t28 unordered, align 8, !dbg !DILocation(line: 25, scope: !24)
  %v68 = add i64 %v64, 4, !dbg !DILocation(line: 25, scope: !24)
  %v69 = sub i64 %v66, %v68, !dbg !DILocation(line: 25, scope: !24)
  %v70 = or i64 %v49, %v69, !dbg !DILocation(line: 25, scope: !24)
  %t29 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 26, scope: !24)
  %v71 = load i64, ptr addrspace(258) %t29, align 8, !invariant.load !0, !dbg !DILocation(line: 26, scope: !24)
  %v73 = add i64 %v61, 0, !dbg !DILocation(line: 27, scope: !24)
  %v74 = add i64 %v71, %v73, !dbg !DILocation(line: 27, scope: !24)
  %v76 = add i64 %v61, 0, !dbg !DILocation(line: 27, scope: !24)
  %v77 = add i64 %v71, %v76, !dbg !DILocation(line: 27, scope: !24)
  %v79 = add i64 %v68, 0, !dbg !DILocation(line: 27, scope: !24)
  %v80 = add i64 %v71, %v79, !dbg !DILocation(line: 27, scope: !24)
  %t30 = icmp slt i64 %v70, 0, !dbg !DILocation(line: 27, scope: !24)
  %v82 = zext i1 %t30 to i8, !dbg !DILocation(line: 27, scope: !24)
  %t31 = icmp ne i8 %v82, 0, !dbg !DILocation(line: 27, scope: !24)
  br i1 %t31, label %e32, label %b9, !dbg !DILocation(line: 27, scope: !24)
b9:
  %v83 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v70, i64 0, i64 %v71, i64 %v74) #3, !dbg !DILocation(line: 27, scope: !24)
  %v85 = and i64 %v55, 4294967295, !dbg !DILocation(line: 27, scope: !24)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 30, scope: !24)
  br label %e33, !dbg !DILocation(line: 30, scope: !24)
b10:
  %v88 = phi i32 [ %v38, %e33 ], [ %v101, %e42 ]
  %v89 = phi i32 [ %v39, %e33 ], [ %v91, %e42 ]
  %v90 = phi i32 [ %v40, %e33 ], [ %v92, %e42 ]
  %v93 = phi i64 [ 0, %e33 ], [ %v104, %e42 ]
  %v96 = mul i64 %v93, 4, !dbg !DILocation(line: 31, scope: !24)
  %v97 = add i64 %v83, %v96, !dbg !DILocation(line: 31, scope: !24)
  %t34 = inttoptr i64 %v83 to ptr addrspace(258), !dbg !DILocation(line: 32, scope: !24)
  %t35 = getelementptr inbounds i8, ptr addrspace(258) %t34, i64 %v96, !dbg !DILocation(line: 32, scope: !24)
  %v94 = load i32, ptr addrspace(258) %t35, align 1, !dbg !DILocation(line: 32, scope: !24)
  %v98 = add i32 %v94, %v89, !dbg !DILocation(line: 32, scope: !24)
  %t36 = icmp slt i32 %v98, 9, !dbg !DILocation(line: 32, scope: !24)
  %v99 = zext i1 %t36 to i8, !dbg !DILocation(line: 32, scope: !24)
  %t37 = icmp ne i8 %v99, 0, !dbg !DILocation(line: 32, scope: !24)
  br i1 %t37, label %b11, label %e38, !dbg !DILocation(line: 32, scope: !24)
b11:
  %v100 = xor i32 %v98, %v90, !dbg !DILocation(line: 32, scope: !24)
  br label %e39, !dbg !DILocation(line: 32, scope: !24)
b12:
  %v91 = phi i32 [ %v89, %e38 ], [ %v98, %e39 ]
  %v92 = phi i32 [ %v90, %e38 ], [ %v100, %e39 ]
  %v101 = add i32 %v88, 1, !dbg !DILocation(line: 32, scope: !24)
  %t40 = icmp ne i64 %v93, %v85, !dbg !DILocation(line: 33, scope: !24)
  %v102 = zext i1 %t40 to i8, !dbg !DILocation(line: 33, scope: !24)
  %v104 = add i64 %v93, 1, !dbg !DILocation(line: 33, scope: !24)
  %t41 = icmp ne i8 %v102, 0, !dbg !DILocation(line: 34, scope: !24)
  br i1 %t41, label %e42, label %b13, !dbg !DILocation(line: 34, scope: !24)
b13:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 35, scope: !24)
  br label %e43, !dbg !DILocation(line: 35, scope: !24)
e5:
  br label %b8, !dbg !DILocation(line: 4, scope: !24)
e20:
  br label %b3, !dbg !DILocation(line: 14, scope: !24)
e21:
  br label %b3, !dbg !DILocation(line: 16, scope: !24)
e24:
  br label %b2, !dbg !DILocation(line: 20, scope: !24)
e25:
  br label %b7, !dbg !DILocation(line: 20, scope: !24)
e32:
  br label %b2, !dbg !DILocation(line: 27, scope: !24)
e33:
  br label %b10, !dbg !DILocation(line: 30, scope: !24)
e38:
  br label %b12, !dbg !DILocation(line: 32, scope: !24)
e39:
  br label %b12, !dbg !DILocation(line: 32, scope: !24)
e42:
  br label %b10, !dbg !DILocation(line: 34, scope: !24)
e43:
  br label %b7, !dbg !DILocation(line: 35, scope: !24)
}

; trap: function 9
define dso_local i32 @wf9(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !25 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !25)
  %v6 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !25)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !25)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !25)
  %t3 = inttoptr i64 %v7 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !25)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 3, scope: !25)
  %v8 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 3, scope: !25)
  br label %e5, !dbg !DILocation(line: 4, scope: !25)
b2:
  %v11 = phi i32 [ %v26, %e22 ], [ %v30, %e30 ]
  %v22 = phi i32 [ %v24, %e22 ], [ %v31, %e30 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 4, scope: !25)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 4, scope: !25)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf9, 9, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !25)
  unreachable
g7:
  %v13 = shl i32 %v11, 2, !dbg !DILocation(line: 6, scope: !25)
  %v14 = add i32 %v2, %v13, !dbg !DILocation(line: 7, scope: !25)
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 8, scope: !25)
  %v15 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !25)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 8, scope: !25)
  %v16 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !25)
  %v17 = zext i32 %v14 to i64, !dbg !DILocation(line: 8, scope: !25)
  %t10 = inttoptr i64 %v16 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !25)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 9, scope: !25)
  %v18 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 9, scope: !25)
  %t12 = icmp uge i64 %v17, %v18, !dbg !DILocation(line: 9, scope: !25)
  %v19 = zext i1 %t12 to i8, !dbg !DILocation(line: 9, scope: !25)
  %t13 = icmp ne i8 %v19, 0, !dbg !DILocation(line: 9, scope: !25)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 9, scope: !25)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf9, 9, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 9, scope: !25)
  unreachable
g14:
  %v20 = add i64 %v15, %v17, !dbg !DILocation(line: 10, scope: !25)
  %t15 = inttoptr i64 %v15 to ptr, !dbg !DILocation(line: 10, scope: !25)
  %t16 = getelementptr i8, ptr %t15, i64 %v17, !dbg !DILocation(line: 10, scope: !25)
  %v21 = load volatile i32, ptr %t16, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 10, scope: !25)
  %t17 = icmp slt i32 %v21, %v22, !dbg !DILocation(line: 11, scope: !25)
  %v23 = zext i1 %t17 to i8, !dbg !DILocation(line: 11, scope: !25)
  %t18 = icmp ne i8 %v23, 0, !dbg !DILocation(line: 12, scope: !25)
  %t19 = call i32 asm "", "=r,0"(i32 %v21) #3, !dbg !DILocation(line: 12, scope: !25)
  %v24 = select i1 %t18, i32 %t19, i32 %v22, !dbg !DILocation(line: 12, scope: !25)
  %v26 = add i32 %v11, 1, !dbg !DILocation(line: 14, scope: !25)
  %t20 = icmp slt i32 %v26, %v3, !dbg !DILocation(line: 15, scope: !25)
  %v28 = zext i1 %t20 to i8, !dbg !DILocation(line: 15, scope: !25)
  %t21 = icmp ne i8 %v28, 0, !dbg !DILocation(line: 16, scope: !25)
  br i1 %t21, label %e22, label %e23, !dbg !DILocation(line: 16, scope: !25)
b3:
  ret i32 %v29, !dbg !DILocation(line: 17, scope: !25)
b4:
  %v29 = phi i32 [ %v24, %e23 ], [ %v86, %e39 ]
  br label %b3, !dbg !DILocation(line: 18, scope: !25)
b5:
  %v30 = phi i32 [ 0, %e5 ]
  %v31 = phi i32 [ 0, %e5 ]
  %v33 = add i32 1, %v30, !dbg !DILocation(line: 19, scope: !25)
  %v34 = sext i32 %v33 to i64, !dbg !DILocation(line: 19, scope: !25)
  %v36 = add i32 0, %v3, !dbg !DILocation(line: 19, scope: !25)
  %v37 = sext i32 %v36 to i64, !dbg !DILocation(line: 19, scope: !25)
  %v39 = sub i64 %v37, %v34, !dbg !DILocation(line: 19, scope: !25)
  %v40 = sub i64 2147483647, %v37, !dbg !DILocation(line: 19, scope: !25)
  %v42 = add i64 %v39, 0, !dbg !DILocation(line: 19, scope: !25)
  %v44 = call i64 @llvm.smax.i64(i64 %v42, i64 0), !dbg !DILocation(line: 19, scope: !25)
  %v46 = lshr i64 %v44, 0, !dbg !DILocation(line: 19, scope: !25)
  %v48 = add i32 0, %v2, !dbg !DILocation(line: 19, scope: !25)
  %v50 = mul i32 %v30, 4, !dbg !DILocation(line: 19, scope: !25)
  %v51 = add i32 %v48, %v50, !dbg !DILocation(line: 19, scope: !25)
  %v52 = zext i32 %v51 to i64, !dbg !DILocation(line: 19, scope: !25)
  %v54 = mul i64 %v46, 4, !dbg !DILocation(line: 19, scope: !25)
  %v55 = add i64 %v52, %v54, !dbg !DILocation(line: 19, scope: !25)
  %t24 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 20, scope: !25)
  %v56 = load i64, ptr addrspace(258) %t24, align 8, !invariant.load !0, !dbg !DILocation(line: 20, scope: !25)
  %t25 = inttoptr i64 %v56 to ptr addrspace(258), !dbg !DILocation(line: 21, scope: !25)
  %t26 = getelementptr i8, ptr addrspace(258) %t25, i64 8, !dbg !DILocation(line: 21, scope: !25)
  %v57 = load atomic i64, ptr addrspace(258) %t26 unordered, align 8, !dbg !DILocation(line: 21, scope: !25)
  %v59 = add i64 %v55, 4, !dbg !DILocation(line: 21, scope: !25)
  %v60 = sub i64 %v57, %v59, !dbg !DILocation(line: 21, scope: !25)
  %v61 = or i64 %v40, %v60, !dbg !DILocation(line: 21, scope: !25)
  %t27 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 22, scope: !25)
  %v62 = load i64, ptr addrspace(258) %t27, align 8, !invariant.load !0, !dbg !DILocation(line: 22, scope: !25)
  %v64 = add i64 %v52, 0, !dbg !DILocation(line: 23, scope: !25)
  %v65 = add i64 %v62, %v64, !dbg !DILocation(line: 23, scope: !25)
  %v67 = add i64 %v52, 0, !dbg !DILocation(line: 23, scope: !25)
  %v68 = add i64 %v62, %v67, !dbg !DILocation(line: 23, scope: !25)
  %v70 = add i64 %v59, 0, !dbg !DILocation(line: 23, scope: !25)
  %v71 = add i64 %v62, %v70, !dbg !DILocation(line: 23, scope: !25)
  %t28 = icmp slt i64 %v61, 0, !dbg !DILocation(line: 23, scope: !25)
  %v73 = zext i1 %t28 to i8, !dbg !DILocation(line: 23, scope: !25)
  %t29 = icmp ne i8 %v73, 0, !dbg !DILocation(line: 23, scope: !25)
  br i1 %t29, label %e30, label %b6, !dbg !DILocation(line: 23, scope: !25)
b6:
  %v74 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v61, i64 0, i64 %v62, i64 %v65) #3, !dbg !DILocation(line: 23, scope: !25)
  %v76 = and i64 %v46, 4294967295, !dbg !DILocation(line: 23, scope: !25)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 25, scope: !25)
  br label %e31, !dbg !DILocation(line: 25, scope: !25)
b7:
  %v78 = phi i32 [ %v30, %e31 ], [ %v87, %e38 ]
  %v79 = phi i32 [ %v31, %e31 ], [ %v86, %e38 ]
  %v80 = phi i64 [ 0, %e31 ], [ %v90, %e38 ]
  %v83 = mul i64 %v80, 4, !dbg !DILocation(line: 26, scope: !25)
  %v84 = add i64 %v74, %v83, !dbg !DILocation(line: 26, scope: !25)
  %t32 = inttoptr i64 %v74 to ptr addrspace(258), !dbg !DILocation(line: 27, scope: !25)
  %t33 = getelementptr inbounds i8, ptr addrspace(258) %t32, i64 %v83, !dbg !DILocation(line: 27, scope: !25)
  %v81 = load i32, ptr addrspace(258) %t33, align 1, !dbg !DILocation(line: 27, scope: !25)
  %t34 = icmp slt i32 %v81, %v79, !dbg !DILocation(line: 27, scope: !25)
  %v85 = zext i1 %t34 to i8, !dbg !DILocation(line: 27, scope: !25)
  %t35 = icmp ne i8 %v85, 0, !dbg !DILocation(line: 27, scope: !25)
  %v86 = select i1 %t35, i32 %v81, i32 %v79, !dbg !DILocation(line: 27, scope: !25)
  %v87 = add i32 %v78, 1, !dbg !DILocation(line: 27, scope: !25)
  %t36 = icmp ne i64 %v80, %v76, !dbg !DILocation(line: 28, scope: !25)
  %v88 = zext i1 %t36 to i8, !dbg !DILocation(line: 28, scope: !25)
  %v90 = add i64 %v80, 1, !dbg !DILocation(line: 28, scope: !25)
  %t37 = icmp ne i8 %v88, 0, !dbg !DILocation(line: 29, scope: !25)
  br i1 %t37, label %e38, label %b8, !dbg !DILocation(line: 29, scope: !25)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 30, scope: !25)
  br label %e39, !dbg !DILocation(line: 30, scope: !25)
e5:
  br label %b5, !dbg !DILocation(line: 4, scope: !25)
e22:
  br label %b2, !dbg !DILocation(line: 16, scope: !25)
e23:
  br label %b4, !dbg !DILocation(line: 16, scope: !25)
e30:
  br label %b2, !dbg !DILocation(line: 23, scope: !25)
e31:
  br label %b7, !dbg !DILocation(line: 25, scope: !25)
e38:
  br label %b7, !dbg !DILocation(line: 29, scope: !25)
e39:
  br label %b4, !dbg !DILocation(line: 30, scope: !25)
}

; trap: function 10
define dso_local void @wf10(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3, i32 %v4) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !26 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = bitcast i64 0 to double, !dbg !DILocation(line: 1, scope: !26)
  %v6 = call double asm "", "=x,0"(double %t1) #3, !dbg !DILocation(line: 1, scope: !26)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !26)
  %v7 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !26)
  %t3 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !26)
  %v8 = load i64, ptr addrspace(258) %t3, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !26)
  %t4 = inttoptr i64 %v8 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !26)
  %t5 = getelementptr i8, ptr addrspace(258) %t4, i64 8, !dbg !DILocation(line: 3, scope: !26)
  %v9 = load atomic i64, ptr addrspace(258) %t5 unordered, align 8, !dbg !DILocation(line: 3, scope: !26)
  br label %e6, !dbg !DILocation(line: 4, scope: !26)
b2:
  %v11 = phi double [ %v24, %e27 ], [ %v34, %e36 ]
  %v13 = phi i32 [ %v31, %e27 ], [ %v35, %e36 ]
  %t7 = icmp ne i32 0, 0, !dbg !DILocation(line: 4, scope: !26)
  br i1 %t7, label %x8, label %g8, !prof !1, !dbg !DILocation(line: 4, scope: !26)
x8:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf10, 10, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 4, scope: !26)
  unreachable
g8:
  %v15 = shl i32 %v13, 3, !dbg !DILocation(line: 6, scope: !26)
  %v16 = add i32 %v2, %v15, !dbg !DILocation(line: 7, scope: !26)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 8, scope: !26)
  %v17 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !26)
  %t10 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 8, scope: !26)
  %v18 = load i64, ptr addrspace(258) %t10, align 8, !invariant.load !0, !dbg !DILocation(line: 8, scope: !26)
  %v19 = zext i32 %v16 to i64, !dbg !DILocation(line: 8, scope: !26)
  %t11 = inttoptr i64 %v18 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !26)
  %t12 = getelementptr i8, ptr addrspace(258) %t11, i64 8, !dbg !DILocation(line: 9, scope: !26)
  %v20 = load atomic i64, ptr addrspace(258) %t12 unordered, align 8, !dbg !DILocation(line: 9, scope: !26)
  %t13 = icmp uge i64 %v19, %v20, !dbg !DILocation(line: 9, scope: !26)
  %v21 = zext i1 %t13 to i8, !dbg !DILocation(line: 9, scope: !26)
  %t14 = icmp ne i8 %v21, 0, !dbg !DILocation(line: 9, scope: !26)
  br i1 %t14, label %x15, label %g15, !prof !1, !dbg !DILocation(line: 9, scope: !26)
x15:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf10, 10, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 9, scope: !26)
  unreachable
g15:
  %v22 = add i64 %v17, %v19, !dbg !DILocation(line: 10, scope: !26)
  %t16 = inttoptr i64 %v17 to ptr, !dbg !DILocation(line: 10, scope: !26)
  %t17 = getelementptr i8, ptr %t16, i64 %v19, !dbg !DILocation(line: 10, scope: !26)
  %v23 = load volatile double, ptr %t17, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 10, scope: !26)
  %v24 = fadd double %v11, %v23, !dbg !DILocation(line: 11, scope: !26)
  %v26 = zext i32 %v4 to i64, !dbg !DILocation(line: 12, scope: !26)
  %t18 = inttoptr i64 %v18 to ptr addrspace(258), !dbg !DILocation(line: 13, scope: !26)
  %t19 = getelementptr i8, ptr addrspace(258) %t18, i64 8, !dbg !DILocation(line: 13, scope: !26)
  %v27 = load atomic i64, ptr addrspace(258) %t19 unordered, align 8, !dbg !DILocation(line: 13, scope: !26)
  %t20 = icmp uge i64 %v26, %v27, !dbg !DILocation(line: 13, scope: !26)
  %v28 = zext i1 %t20 to i8, !dbg !DILocation(line: 13, scope: !26)
  %t21 = icmp ne i8 %v28, 0, !dbg !DILocation(line: 13, scope: !26)
  br i1 %t21, label %x22, label %g22, !prof !1, !dbg !DILocation(line: 13, scope: !26)
x22:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf10, 10, 3\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 13, scope: !26)
  unreachable
g22:
  %v29 = add i64 %v17, %v26, !dbg !DILocation(line: 14, scope: !26)
  %t23 = inttoptr i64 %v17 to ptr, !dbg !DILocation(line: 14, scope: !26)
  %t24 = getelementptr i8, ptr %t23, i64 %v26, !dbg !DILocation(line: 14, scope: !26)
  store volatile double %v24, ptr %t24, align 1, !pcsections !{!"ft", !{i32 4}}, !dbg !DILocation(line: 14, scope: !26)
  %v31 = add i32 %v13, 1, !dbg !DILocation(line: 16, scope: !26)
  %t25 = icmp slt i32 %v31, %v3, !dbg !DILocation(line: 17, scope: !26)
  %v33 = zext i1 %t25 to i8, !dbg !DILocation(line: 17, scope: !26)
  %t26 = icmp ne i8 %v33, 0, !dbg !DILocation(line: 18, scope: !26)
  br i1 %t26, label %e27, label %b4, !dbg !DILocation(line: 18, scope: !26)
b3:
  ret void, !dbg !DILocation(line: 19, scope: !26)
b4:
  br label %b3, !dbg !DILocation(line: 20, scope: !26)
b5:
  %v34 = phi double [ %v6, %e6 ]
  %v35 = phi i32 [ 0, %e6 ]
  %v37 = add i32 1, %v35, !dbg !DILocation(line: 21, scope: !26)
  %v38 = sext i32 %v37 to i64, !dbg !DILocation(line: 21, scope: !26)
  %v40 = add i32 0, %v3, !dbg !DILocation(line: 21, scope: !26)
  %v41 = sext i32 %v40 to i64, !dbg !DILocation(line: 21, scope: !26)
  %v43 = sub i64 %v41, %v38, !dbg !DILocation(line: 21, scope: !26)
  %v44 = sub i64 2147483647, %v41, !dbg !DILocation(line: 21, scope: !26)
  %v46 = add i64 %v43, 0, !dbg !DILocation(line: 21, scope: !26)
  %v48 = call i64 @llvm.smax.i64(i64 %v46, i64 0), !dbg !DILocation(line: 21, scope: !26)
  %v50 = lshr i64 %v48, 0, !dbg !DILocation(line: 21, scope: !26)
  %v52 = add i32 0, %v2, !dbg !DILocation(line: 21, scope: !26)
  %v54 = mul i32 %v35, 8, !dbg !DILocation(line: 21, scope: !26)
  %v55 = add i32 %v52, %v54, !dbg !DILocation(line: 21, scope: !26)
  %v56 = zext i32 %v55 to i64, !dbg !DILocation(line: 21, scope: !26)
  %v58 = mul i64 %v50, 8, !dbg !DILocation(line: 21, scope: !26)
  %v59 = add i64 %v56, %v58, !dbg !DILocation(line: 21, scope: !26)
  %t28 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 22, scope: !26)
  %v60 = load i64, ptr addrspace(258) %t28, align 8, !invariant.load !0, !dbg !DILocation(line: 22, scope: !26)
  %t29 = inttoptr i64 %v60 to ptr addrspace(258), !dbg !DILocation(line: 23, scope: !26)
  %t30 = getelementptr i8, ptr addrspace(258) %t29, i64 8, !dbg !DILocation(line: 23, scope: !26)
  %v61 = load atomic i64, ptr addrspace(258) %t30 unordered, align 8, !dbg !DILocation(line: 23, scope: !26)
  %v63 = add i64 %v59, 8, !dbg !DILocation(line: 23, scope: !26)
  %v64 = sub i64 %v61, %v63, !dbg !DILocation(line: 23, scope: !26)
  %v65 = or i64 %v44, %v64, !dbg !DILocation(line: 23, scope: !26)
  %t31 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 24, scope: !26)
  %v66 = load i64, ptr addrspace(258) %t31, align 8, !invariant.load !0, !dbg !DILocation(line: 24, scope: !26)
  %v68 = add i64 %v56, 0, !dbg !DILocation(line: 25, scope: !26)
  %v69 = add i64 %v66, %v68, !dbg !DILocation(line: 25, scope: !26)
  %v71 = add i64 %v56, 0, !dbg !DILocation(line: 25, scope: !26)
  %v72 = add i64 %v66, %v71, !dbg !DILocation(line: 25, scope: !26)
  %v74 = add i64 %v63, 0, !dbg !DILocation(line: 25, scope: !26)
  %v75 = add i64 %v66, %v74, !dbg !DILocation(line: 25, scope: !26)
  %v77 = add i32 0, %v4, !dbg !DILocation(line: 25, scope: !26)
  %v78 = zext i32 %v77 to i64, !dbg !DILocation(line: 25, scope: !26)
  %t32 = inttoptr i64 %v60 to ptr addrspace(258), !dbg !DILocation(line: 25, scope: !26)
  %t33 = getelementptr i8, ptr addrspace(258) %t32, i64 8, !dbg !DILocation(line: 25, scope: !26)
  %v79 = load atomic i64, ptr addrspace(258) %t33 unordered, align 8, !dbg !DILocation(line: 25, scope: !26)
  %v81 = add i64 %v78, 8, !dbg !DILocation(line: 25, scope: !26)
  %v82 = sub i64 %v79, %v81, !dbg !DILocation(line: 25, scope: !26)
  %v83 = or i64 %v65, %v82, !dbg !DILocation(line: 25, scope: !26)
  %v85 = add i64 %v78, 0, !dbg !DILocation(line: 25, scope: !26)
  %v86 = add i64 %v66, %v85, !dbg !DILocation(line: 25, scope: !26)
  %v88 = add i64 %v78, 0, !dbg !DILocation(line: 25, scope: !26)
  %v89 = add i64 %v66, %v88, !dbg !DILocation(line: 25, scope: !26)
  %v91 = add i64 %v81, 0, !dbg !DILocation(line: 25, scope: !26)
  %v92 = add i64 %v66, %v91, !dbg !DILocation(line: 25, scope: !26)
  %v93 = sub i64 %v89, %v75, !dbg !DILocation(line: 25, scope: !26)
  %v94 = sub i64 %v72, %v92, !dbg !DILocation(line: 25, scope: !26)
  %v95 = and i64 %v93, %v94, !dbg !DILocation(line: 25, scope: !26)
  %v96 = or i64 %v83, %v95, !dbg !DILocation(line: 25, scope: !26)
  %t34 = icmp slt i64 %v96, 0, !dbg !DILocation(line: 25, scope: !26)
  %v98 = zext i1 %t34 to i8, !dbg !DILocation(line: 25, scope: !26)
  %t35 = icmp ne i8 %v98, 0, !dbg !DILocation(line: 25, scope: !26)
  br i1 %t35, label %e36, label %b6, !dbg !DILocation(line: 25, scope: !26)
b6:
  %v99 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v96, i64 0, i64 %v66, i64 %v69) #3, !dbg !DILocation(line: 25, scope: !26)
  %v100 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,re,r,0,~{flags}"(i64 %v96, i64 0, i64 %v66, i64 %v86) #3, !dbg !DILocation(line: 25, scope: !26)
  %v102 = and i64 %v50, 4294967295, !dbg !DILocation(line: 25, scope: !26)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 27, scope: !26)
  br label %e37, !dbg !DILocation(line: 27, scope: !26)
b7:
  %v104 = phi double [ %v34, %e37 ], [ %v111, %e43 ]
  %v105 = phi i32 [ %v35, %e37 ], [ %v112, %e43 ]
  %v106 = phi i64 [ 0, %e37 ], [ %v115, %e43 ]
  %v109 = mul i64 %v106, 8, !dbg !DILocation(line: 28, scope: !26)
  %v110 = add i64 %v99, %v109, !dbg !DILocation(line: 28, scope: !26)
  %t38 = inttoptr i64 %v99 to ptr addrspace(258), !dbg !DILocation(line: 29, scope: !26)
  %t39 = getelementptr inbounds i8, ptr addrspace(258) %t38, i64 %v109, !dbg !DILocation(line: 29, scope: !26)
  %v107 = load double, ptr addrspace(258) %t39, align 1, !alias.scope !{!{!"10.0.0", !{!"10.0"}}}, !noalias !{!{!"10.0.1", !{!"10.0"}}}, !dbg !DILocation(line: 29, scope: !26)
  %v111 = fadd double %v104, %v107, !dbg !DILocation(line: 29, scope: !26)
  %t40 = inttoptr i64 %v100 to ptr addrspace(258), !dbg !DILocation(line: 29, scope: !26)
  store double %v111, ptr addrspace(258) %t40, align 1, !alias.scope !{!{!"10.0.1", !{!"10.0"}}}, !noalias !{!{!"10.0.0", !{!"10.0"}}}, !dbg !DILocation(line: 29, scope: !26)
  %v112 = add i32 %v105, 1, !dbg !DILocation(line: 29, scope: !26)
  %t41 = icmp ne i64 %v106, %v102, !dbg !DILocation(line: 30, scope: !26)
  %v113 = zext i1 %t41 to i8, !dbg !DILocation(line: 30, scope: !26)
  %v115 = add i64 %v106, 1, !dbg !DILocation(line: 30, scope: !26)
  %t42 = icmp ne i8 %v113, 0, !dbg !DILocation(line: 31, scope: !26)
  br i1 %t42, label %e43, label %b8, !dbg !DILocation(line: 31, scope: !26)
b8:
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 32, scope: !26)
  br label %b4, !dbg !DILocation(line: 32, scope: !26)
e6:
  br label %b5, !dbg !DILocation(line: 4, scope: !26)
e27:
  br label %b2, !dbg !DILocation(line: 18, scope: !26)
e36:
  br label %b2, !dbg !DILocation(line: 25, scope: !26)
e37:
  br label %b7, !dbg !DILocation(line: 27, scope: !26)
e43:
  br label %b7, !dbg !DILocation(line: 31, scope: !26)
}

