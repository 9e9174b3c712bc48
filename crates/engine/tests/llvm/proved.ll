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
  %v74 = add i32 0, %v3, !dbg !DILocation(line: 26, scope: !16)
  %v76 = mul i32 %v38, 8, !dbg !DILocation(line: 26, scope: !16)
  %v77 = add i32 %v74, %v76, !dbg !DILocation(line: 26, scope: !16)
  %v78 = zext i32 %v77 to i64, !dbg !DILocation(line: 26, scope: !16)
  %v80 = mul i64 %v53, 8, !dbg !DILocation(line: 26, scope: !16)
  %v81 = add i64 %v78, %v80, !dbg !DILocation(line: 26, scope: !16)
  %t22 = inttoptr i64 %v63 to ptr addrspace(258), !dbg !DILocation(line: 26, scope: !16)
  %t23 = getelementptr i8, ptr addrspace(258) %t22, i64 8, !dbg !DILocation(line: 26, scope: !16)
  %v82 = load atomic i64, ptr addrspace(258) %t23 unordered, align 8, !dbg !DILocation(line: 26, scope: !16)
  %v84 = add i64 %v81, 8, !dbg !DILocation(line: 26, scope: !16)
  %v85 = sub i64 %v82, %v84, !dbg !DILocation(line: 26, scope: !16)
  %v86 = or i64 %v68, %v85, !dbg !DILocation(line: 26, scope: !16)
  %v88 = add i64 %v78, 0, !dbg !DILocation(line: 26, scope: !16)
  %v89 = add i64 %v69, %v88, !dbg !DILocation(line: 26, scope: !16)
  %v91 = add i32 0, %v4, !dbg !DILocation(line: 26, scope: !16)
  %v93 = mul i32 %v38, 8, !dbg !DILocation(line: 26, scope: !16)
  %v94 = add i32 %v91, %v93, !dbg !DILocation(line: 26, scope: !16)
  %v95 = zext i32 %v94 to i64, !dbg !DILocation(line: 26, scope: !16)
  %v97 = mul i64 %v53, 8, !dbg !DILocation(line: 26, scope: !16)
  %v98 = add i64 %v95, %v97, !dbg !DILocation(line: 26, scope: !16)
  %t24 = inttoptr i64 %v63 to ptr addrspace(258), !dbg !DILocation(line: 26, scope: !16)
  %t25 = getelementptr i8, ptr addrspace(258) %t24, i64 8, !dbg !DILocation(line: 26, scope: !16)
  %v99 = load atomic i64, ptr addrspace(258) %t25 unordered, align 8, !dbg !DILocation(line: 26, scope: !16)
  %v101 = add i64 %v98, 16, !dbg !DILocation(line: 26, scope: !16)
  %v102 = sub i64 %v99, %v101, !dbg !DILocation(line: 26, scope: !16)
  %v103 = or i64 %v86, %v102, !dbg !DILocation(line: 26, scope: !16)
  %v105 = add i64 %v95, 8, !dbg !DILocation(line: 26, scope: !16)
  %v106 = add i64 %v69, %v105, !dbg !DILocation(line: 26, scope: !16)
  %t26 = icmp slt i64 %v103, 0, !dbg !DILocation(line: 26, scope: !16)
  %v108 = zext i1 %t26 to i8, !dbg !DILocation(line: 26, scope: !16)
  %t27 = icmp ne i8 %v108, 0, !dbg !DILocation(line: 26, scope: !16)
  br i1 %t27, label %e28, label %b6, !dbg !DILocation(line: 26, scope: !16)
b6:
  %v109 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,r,r,0,~{flags}"(i64 %v103, i64 0, i64 %v69, i64 %v72) #3, !dbg !DILocation(line: 26, scope: !16)
  %v110 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,r,r,0,~{flags}"(i64 %v103, i64 0, i64 %v69, i64 %v89) #3, !dbg !DILocation(line: 26, scope: !16)
  %v111 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,r,r,0,~{flags}"(i64 %v103, i64 0, i64 %v69, i64 %v106) #3, !dbg !DILocation(line: 26, scope: !16)
  %v113 = and i64 %v53, 4294967295, !dbg !DILocation(line: 26, scope: !16)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 28, scope: !16)
  br label %e29, !dbg !DILocation(line: 28, scope: !16)
b7:
  %v115 = phi i32 [ %v38, %e29 ], [ %v129, %e38 ]
  %v116 = phi i64 [ 0, %e29 ], [ %v132, %e38 ]
  %v119 = mul i64 %v116, 8, !dbg !DILocation(line: 29, scope: !16)
  %v120 = add i64 %v109, %v119, !dbg !DILocation(line: 29, scope: !16)
  %t30 = inttoptr i64 %v109 to ptr addrspace(258), !dbg !DILocation(line: 30, scope: !16)
  %t31 = getelementptr inbounds i8, ptr addrspace(258) %t30, i64 %v119, !dbg !DILocation(line: 30, scope: !16)
  %v117 = load double, ptr addrspace(258) %t31, align 1, !dbg !DILocation(line: 30, scope: !16)
  %v123 = mul i64 %v116, 8, !dbg !DILocation(line: 31, scope: !16)
  %v124 = add i64 %v110, %v123, !dbg !DILocation(line: 31, scope: !16)
  %t32 = inttoptr i64 %v110 to ptr addrspace(258), !dbg !DILocation(line: 32, scope: !16)
  %t33 = getelementptr inbounds i8, ptr addrspace(258) %t32, i64 %v123, !dbg !DILocation(line: 32, scope: !16)
  %v121 = load double, ptr addrspace(258) %t33, align 1, !dbg !DILocation(line: 32, scope: !16)
  %v125 = fadd double %v117, %v121, !dbg !DILocation(line: 32, scope: !16)
  %v127 = mul i64 %v116, 8, !dbg !DILocation(line: 33, scope: !16)
  %v128 = add i64 %v111, %v127, !dbg !DILocation(line: 33, scope: !16)
  %t34 = inttoptr i64 %v111 to ptr addrspace(258), !dbg !DILocation(line: 34, scope: !16)
  %t35 = getelementptr inbounds i8, ptr addrspace(258) %t34, i64 %v127, !dbg !DILocation(line: 34, scope: !16)
  store double %v125, ptr addrspace(258) %t35, align 1, !dbg !DILocation(line: 34, scope: !16)
  %v129 = add i32 %v115, 1, !dbg !DILocation(line: 34, scope: !16)
  %t36 = icmp ne i64 %v116, %v113, !dbg !DILocation(line: 35, scope: !16)
  %v130 = zext i1 %t36 to i8, !dbg !DILocation(line: 35, scope: !16)
  %v132 = add i64 %v116, 1, !dbg !DILocation(line: 35, scope: !16)
  %t37 = icmp ne i8 %v130, 0, !dbg !DILocation(line: 36, scope: !16)
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
  %v21 = phi i32 [ %v16, %e14 ], [ %v65, %e28 ]
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
  %t19 = icmp slt i64 %v47, 0, !dbg !DILocation(line: 15, scope: !17)
  %v53 = zext i1 %t19 to i8, !dbg !DILocation(line: 15, scope: !17)
  %t20 = icmp ne i8 %v53, 0, !dbg !DILocation(line: 15, scope: !17)
  br i1 %t20, label %e21, label %b6, !dbg !DILocation(line: 15, scope: !17)
b6:
  %v54 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,r,r,0,~{flags}"(i64 %v47, i64 0, i64 %v48, i64 %v51) #3, !dbg !DILocation(line: 15, scope: !17)
  %v56 = and i64 %v35, 4294967295, !dbg !DILocation(line: 15, scope: !17)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 17, scope: !17)
  br label %e22, !dbg !DILocation(line: 17, scope: !17)
b7:
  %v58 = phi i32 [ %v22, %e22 ], [ %v65, %e27 ]
  %v59 = phi i32 [ %v23, %e22 ], [ %v66, %e27 ]
  %v60 = phi i64 [ 0, %e22 ], [ %v69, %e27 ]
  %v63 = mul i64 %v60, 4, !dbg !DILocation(line: 18, scope: !17)
  %v64 = add i64 %v54, %v63, !dbg !DILocation(line: 18, scope: !17)
  %t23 = inttoptr i64 %v54 to ptr addrspace(258), !dbg !DILocation(line: 19, scope: !17)
  %t24 = getelementptr inbounds i8, ptr addrspace(258) %t23, i64 %v63, !dbg !DILocation(line: 19, scope: !17)
  %v61 = load i32, ptr addrspace(258) %t24, align 1, !dbg !DILocation(line: 19, scope: !17)
  %v65 = add i32 %v58, %v61, !dbg !DILocation(line: 19, scope: !17)
  %v66 = add i32 %v59, 4, !dbg !DILocation(line: 19, scope: !17)
  %t25 = icmp ne i64 %v60, %v56, !dbg !DILocation(line: 20, scope: !17)
  %v67 = zext i1 %t25 to i8, !dbg !DILocation(line: 20, scope: !17)
  %v69 = add i64 %v60, 1, !dbg !DILocation(line: 20, scope: !17)
  %t26 = icmp ne i8 %v67, 0, !dbg !DILocation(line: 21, scope: !17)
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
define dso_local void @wf4(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !20 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !20)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !20)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !20)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !20)
  br label %e3, !dbg !DILocation(line: 1, scope: !20)
b2:
  %v7 = phi i32 [ %v2, %e3 ], [ %v22, %e17 ]
  %v23 = phi i32 [ %v3, %e3 ], [ %v25, %e17 ]
  %t4 = icmp ne i32 0, 0, !dbg !DILocation(line: 1, scope: !20)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 1, scope: !20)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !20)
  unreachable
g5:
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 3, scope: !20)
  %v9 = load i64, ptr addrspace(258) %t6, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !20)
  %t7 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 3, scope: !20)
  %v10 = load i64, ptr addrspace(258) %t7, align 8, !invariant.load !0, !dbg !DILocation(line: 3, scope: !20)
  %v11 = zext i32 %v7 to i64, !dbg !DILocation(line: 3, scope: !20)
  %v12 = add i64 %v9, %v11, !dbg !DILocation(line: 3, scope: !20)
  %t8 = inttoptr i64 %v9 to ptr, !dbg !DILocation(line: 3, scope: !20)
  %t9 = getelementptr i8, ptr %t8, i64 %v11, !dbg !DILocation(line: 3, scope: !20)
  store volatile i32 0, ptr %t9, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 3, scope: !20)
  %v14 = zext i32 1 to i64, !dbg !DILocation(line: 5, scope: !20)
  %t10 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 5, scope: !20)
  %v16 = load i64, ptr addrspace(258) %t10, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !20)
  %t11 = inttoptr i64 %v16 to ptr addrspace(258), !dbg !DILocation(line: 5, scope: !20)
  %v17 = load i64, ptr addrspace(258) %t11, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !20)
  %t12 = inttoptr i64 %v17 to ptr, !dbg !DILocation(line: 5, scope: !20)
  %v18 = call i64 %t12(i64 %v0, i32 0, i64 %v14) #1, !dbg !DILocation(line: 5, scope: !20)
  %t13 = icmp slt i64 %v18, -1, !dbg !DILocation(line: 5, scope: !20)
  %v20 = zext i1 %t13 to i8, !dbg !DILocation(line: 5, scope: !20)
  %t14 = icmp ne i8 %v20, 0, !dbg !DILocation(line: 5, scope: !20)
  br i1 %t14, label %x15, label %g15, !prof !1, !dbg !DILocation(line: 5, scope: !20)
x15:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 2\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 5, scope: !20)
  unreachable
g15:
  %v21 = trunc i64 %v18 to i32, !dbg !DILocation(line: 5, scope: !20)
  %v22 = add i32 %v7, %v21, !dbg !DILocation(line: 6, scope: !20)
  %v25 = sub i32 %v23, 1, !dbg !DILocation(line: 8, scope: !20)
  %t16 = icmp ne i32 %v25, 0, !dbg !DILocation(line: 9, scope: !20)
  br i1 %t16, label %e17, label %b3, !dbg !DILocation(line: 9, scope: !20)
b3:
  ret void, !dbg !DILocation(line: 10, scope: !20)
e3:
  br label %b2, !dbg !DILocation(line: 1, scope: !20)
e17:
  br label %b2, !dbg !DILocation(line: 9, scope: !20)
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
  %v81 = add i32 0, %v3, !dbg !DILocation(line: 34, scope: !16)
  %v83 = mul i32 %v45, 8, !dbg !DILocation(line: 34, scope: !16)
  %v84 = add i32 %v81, %v83, !dbg !DILocation(line: 34, scope: !16)
  %v85 = zext i32 %v84 to i64, !dbg !DILocation(line: 34, scope: !16)
  %v87 = mul i64 %v60, 8, !dbg !DILocation(line: 34, scope: !16)
  %v88 = add i64 %v85, %v87, !dbg !DILocation(line: 34, scope: !16)
  %t39 = inttoptr i64 %v70 to ptr addrspace(258), !dbg !DILocation(line: 34, scope: !16)
  %t40 = getelementptr i8, ptr addrspace(258) %t39, i64 8, !dbg !DILocation(line: 34, scope: !16)
  %v89 = load atomic i64, ptr addrspace(258) %t40 unordered, align 8, !dbg !DILocation(line: 34, scope: !16)
  %v91 = add i64 %v88, 8, !dbg !DILocation(line: 34, scope: !16)
  %v92 = sub i64 %v89, %v91, !dbg !DILocation(line: 34, scope: !16)
  %v93 = or i64 %v75, %v92, !dbg !DILocation(line: 34, scope: !16)
  %v95 = add i64 %v85, 0, !dbg !DILocation(line: 34, scope: !16)
  %v96 = add i64 %v76, %v95, !dbg !DILocation(line: 34, scope: !16)
  %v98 = add i32 0, %v4, !dbg !DILocation(line: 34, scope: !16)
  %v100 = mul i32 %v45, 8, !dbg !DILocation(line: 34, scope: !16)
  %v101 = add i32 %v98, %v100, !dbg !DILocation(line: 34, scope: !16)
  %v102 = zext i32 %v101 to i64, !dbg !DILocation(line: 34, scope: !16)
  %v104 = mul i64 %v60, 8, !dbg !DILocation(line: 34, scope: !16)
  %v105 = add i64 %v102, %v104, !dbg !DILocation(line: 34, scope: !16)
  %t41 = inttoptr i64 %v70 to ptr addrspace(258), !dbg !DILocation(line: 34, scope: !16)
  %t42 = getelementptr i8, ptr addrspace(258) %t41, i64 8, !dbg !DILocation(line: 34, scope: !16)
  %v106 = load atomic i64, ptr addrspace(258) %t42 unordered, align 8, !dbg !DILocation(line: 34, scope: !16)
  %v108 = add i64 %v105, 16, !dbg !DILocation(line: 34, scope: !16)
  %v109 = sub i64 %v106, %v108, !dbg !DILocation(line: 34, scope: !16)
  %v110 = or i64 %v93, %v109, !dbg !DILocation(line: 34, scope: !16)
  %v112 = add i64 %v102, 8, !dbg !DILocation(line: 34, scope: !16)
  %v113 = add i64 %v76, %v112, !dbg !DILocation(line: 34, scope: !16)
  %t43 = icmp slt i64 %v110, 0, !dbg !DILocation(line: 34, scope: !16)
  %v115 = zext i1 %t43 to i8, !dbg !DILocation(line: 34, scope: !16)
  %t44 = icmp ne i8 %v115, 0, !dbg !DILocation(line: 34, scope: !16)
  br i1 %t44, label %e45, label %b6, !dbg !DILocation(line: 34, scope: !16)
b6:
  %v116 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,r,r,0,~{flags}"(i64 %v110, i64 0, i64 %v76, i64 %v79) #3, !dbg !DILocation(line: 34, scope: !16)
  %v117 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,r,r,0,~{flags}"(i64 %v110, i64 0, i64 %v76, i64 %v96) #3, !dbg !DILocation(line: 34, scope: !16)
  %v118 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,r,r,0,~{flags}"(i64 %v110, i64 0, i64 %v76, i64 %v113) #3, !dbg !DILocation(line: 34, scope: !16)
  %v120 = and i64 %v60, 4294967295, !dbg !DILocation(line: 34, scope: !16)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 36, scope: !16)
  br label %e46, !dbg !DILocation(line: 36, scope: !16)
b7:
  %v122 = phi i32 [ %v45, %e46 ], [ %v136, %e55 ]
  %v123 = phi i64 [ 0, %e46 ], [ %v139, %e55 ]
  %v126 = mul i64 %v123, 8, !dbg !DILocation(line: 37, scope: !16)
  %v127 = add i64 %v116, %v126, !dbg !DILocation(line: 37, scope: !16)
  %t47 = inttoptr i64 %v116 to ptr addrspace(258), !dbg !DILocation(line: 38, scope: !16)
  %t48 = getelementptr inbounds i8, ptr addrspace(258) %t47, i64 %v126, !dbg !DILocation(line: 38, scope: !16)
  %v124 = load double, ptr addrspace(258) %t48, align 1, !dbg !DILocation(line: 38, scope: !16)
  %v130 = mul i64 %v123, 8, !dbg !DILocation(line: 39, scope: !16)
  %v131 = add i64 %v117, %v130, !dbg !DILocation(line: 39, scope: !16)
  %t49 = inttoptr i64 %v117 to ptr addrspace(258), !dbg !DILocation(line: 40, scope: !16)
  %t50 = getelementptr inbounds i8, ptr addrspace(258) %t49, i64 %v130, !dbg !DILocation(line: 40, scope: !16)
  %v128 = load double, ptr addrspace(258) %t50, align 1, !dbg !DILocation(line: 40, scope: !16)
  %v132 = fadd double %v124, %v128, !dbg !DILocation(line: 40, scope: !16)
  %v134 = mul i64 %v123, 8, !dbg !DILocation(line: 41, scope: !16)
  %v135 = add i64 %v118, %v134, !dbg !DILocation(line: 41, scope: !16)
  %t51 = inttoptr i64 %v118 to ptr addrspace(258), !dbg !DILocation(line: 42, scope: !16)
  %t52 = getelementptr inbounds i8, ptr addrspace(258) %t51, i64 %v134, !dbg !DILocation(line: 42, scope: !16)
  store double %v132, ptr addrspace(258) %t52, align 1, !dbg !DILocation(line: 42, scope: !16)
  %v136 = add i32 %v122, 1, !dbg !DILocation(line: 42, scope: !16)
  %t53 = icmp ne i64 %v123, %v120, !dbg !DILocation(line: 43, scope: !16)
  %v137 = zext i1 %t53 to i8, !dbg !DILocation(line: 43, scope: !16)
  %v139 = add i64 %v123, 1, !dbg !DILocation(line: 43, scope: !16)
  %t54 = icmp ne i8 %v137, 0, !dbg !DILocation(line: 44, scope: !16)
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
  %v24 = phi i32 [ %v19, %e21 ], [ %v68, %e35 ]
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
  %t26 = icmp slt i64 %v50, 0, !dbg !DILocation(line: 19, scope: !17)
  %v56 = zext i1 %t26 to i8, !dbg !DILocation(line: 19, scope: !17)
  %t27 = icmp ne i8 %v56, 0, !dbg !DILocation(line: 19, scope: !17)
  br i1 %t27, label %e28, label %b6, !dbg !DILocation(line: 19, scope: !17)
b6:
  %v57 = call i64 asm "cmpq $2, $1\0Acmovlq $3, $0", "=&r,r,r,r,0,~{flags}"(i64 %v50, i64 0, i64 %v51, i64 %v54) #3, !dbg !DILocation(line: 19, scope: !17)
  %v59 = and i64 %v38, 4294967295, !dbg !DILocation(line: 19, scope: !17)
  call void asm sideeffect "", "~{memory}"() nounwind, !dbg !DILocation(line: 21, scope: !17)
  br label %e29, !dbg !DILocation(line: 21, scope: !17)
b7:
  %v61 = phi i32 [ %v25, %e29 ], [ %v68, %e34 ]
  %v62 = phi i32 [ %v26, %e29 ], [ %v69, %e34 ]
  %v63 = phi i64 [ 0, %e29 ], [ %v72, %e34 ]
  %v66 = mul i64 %v63, 4, !dbg !DILocation(line: 22, scope: !17)
  %v67 = add i64 %v57, %v66, !dbg !DILocation(line: 22, scope: !17)
  %t30 = inttoptr i64 %v57 to ptr addrspace(258), !dbg !DILocation(line: 23, scope: !17)
  %t31 = getelementptr inbounds i8, ptr addrspace(258) %t30, i64 %v66, !dbg !DILocation(line: 23, scope: !17)
  %v64 = load i32, ptr addrspace(258) %t31, align 1, !dbg !DILocation(line: 23, scope: !17)
  %v68 = add i32 %v61, %v64, !dbg !DILocation(line: 23, scope: !17)
  %v69 = add i32 %v62, 4, !dbg !DILocation(line: 23, scope: !17)
  %t32 = icmp ne i64 %v63, %v59, !dbg !DILocation(line: 24, scope: !17)
  %v70 = zext i1 %t32 to i8, !dbg !DILocation(line: 24, scope: !17)
  %v72 = add i64 %v63, 1, !dbg !DILocation(line: 24, scope: !17)
  %t33 = icmp ne i8 %v70, 0, !dbg !DILocation(line: 25, scope: !17)
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
define dso_local void @wf4(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2, i32 %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !20 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 1, scope: !20)
  %v4 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !20)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 1, scope: !20)
  %v5 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 1, scope: !20)
  %t3 = inttoptr i64 %v5 to ptr addrspace(258), !dbg !DILocation(line: 2, scope: !20)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 2, scope: !20)
  %v6 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 2, scope: !20)
  br label %e5, !dbg !DILocation(line: 3, scope: !20)
b2:
  %v8 = phi i32 [ %v2, %e5 ], [ %v25, %e24 ]
  %v26 = phi i32 [ %v3, %e5 ], [ %v28, %e24 ]
  %t6 = icmp ne i32 0, 0, !dbg !DILocation(line: 3, scope: !20)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 3, scope: !20)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 3, scope: !20)
  unreachable
g7:
  %t8 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 5, scope: !20)
  %v10 = load i64, ptr addrspace(258) %t8, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !20)
  %t9 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 5, scope: !20)
  %v11 = load i64, ptr addrspace(258) %t9, align 8, !invariant.load !0, !dbg !DILocation(line: 5, scope: !20)
  %v12 = zext i32 %v8 to i64, !dbg !DILocation(line: 5, scope: !20)
  %t10 = inttoptr i64 %v11 to ptr addrspace(258), !dbg !DILocation(line: 6, scope: !20)
  %t11 = getelementptr i8, ptr addrspace(258) %t10, i64 8, !dbg !DILocation(line: 6, scope: !20)
  %v13 = load atomic i64, ptr addrspace(258) %t11 unordered, align 8, !dbg !DILocation(line: 6, scope: !20)
  %t12 = icmp uge i64 %v12, %v13, !dbg !DILocation(line: 6, scope: !20)
  %v14 = zext i1 %t12 to i8, !dbg !DILocation(line: 6, scope: !20)
  %t13 = icmp ne i8 %v14, 0, !dbg !DILocation(line: 6, scope: !20)
  br i1 %t13, label %x14, label %g14, !prof !1, !dbg !DILocation(line: 6, scope: !20)
x14:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 6, scope: !20)
  unreachable
g14:
  %v15 = add i64 %v10, %v12, !dbg !DILocation(line: 7, scope: !20)
  %t15 = inttoptr i64 %v10 to ptr, !dbg !DILocation(line: 7, scope: !20)
  %t16 = getelementptr i8, ptr %t15, i64 %v12, !dbg !DILocation(line: 7, scope: !20)
  store volatile i32 0, ptr %t16, align 1, !pcsections !{!"ft", !{i32 2}}, !dbg !DILocation(line: 7, scope: !20)
  %v17 = zext i32 1 to i64, !dbg !DILocation(line: 9, scope: !20)
  %t17 = getelementptr i8, ptr addrspace(258) %context, i64 8, !dbg !DILocation(line: 9, scope: !20)
  %v19 = load i64, ptr addrspace(258) %t17, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !20)
  %t18 = inttoptr i64 %v19 to ptr addrspace(258), !dbg !DILocation(line: 9, scope: !20)
  %v20 = load i64, ptr addrspace(258) %t18, align 8, !invariant.load !0, !dbg !DILocation(line: 9, scope: !20)
  %t19 = inttoptr i64 %v20 to ptr, !dbg !DILocation(line: 9, scope: !20)
  %v21 = call i64 %t19(i64 %v0, i32 0, i64 %v17) #1, !dbg !DILocation(line: 9, scope: !20)
  %t20 = icmp slt i64 %v21, -1, !dbg !DILocation(line: 9, scope: !20)
  %v23 = zext i1 %t20 to i8, !dbg !DILocation(line: 9, scope: !20)
  %t21 = icmp ne i8 %v23, 0, !dbg !DILocation(line: 9, scope: !20)
  br i1 %t21, label %x22, label %g22, !prof !1, !dbg !DILocation(line: 9, scope: !20)
x22:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf4, 4, 3\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 9, scope: !20)
  unreachable
g22:
  %v24 = trunc i64 %v21 to i32, !dbg !DILocation(line: 9, scope: !20)
  %v25 = add i32 %v8, %v24, !dbg !DILocation(line: 10, scope: !20)
  %v28 = sub i32 %v26, 1, !dbg !DILocation(line: 12, scope: !20)
  %t23 = icmp ne i32 %v28, 0, !dbg !DILocation(line: 13, scope: !20)
  br i1 %t23, label %e24, label %b3, !dbg !DILocation(line: 13, scope: !20)
b3:
  ret void, !dbg !DILocation(line: 14, scope: !20)
e5:
  br label %b2, !dbg !DILocation(line: 3, scope: !20)
e24:
  br label %b2, !dbg !DILocation(line: 13, scope: !20)
}

