; guard: function 0
define dso_local i32 @wf0(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !16 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !16)
  %v5 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !16)
  %v6 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %v7 = zext i32 %v2 to i64, !dbg !DILocation(line: 2, scope: !16)
  %v8 = add i64 %v5, %v7, !dbg !DILocation(line: 2, scope: !16)
  %t3 = inttoptr i64 %v5 to ptr, !dbg !DILocation(line: 2, scope: !16)
  %t4 = getelementptr i8, ptr %t3, i64 %v7, !dbg !DILocation(line: 2, scope: !16)
  %t5 = getelementptr i8, ptr %t4, i64 8, !dbg !DILocation(line: 2, scope: !16)
  store volatile i32 7, ptr %t5, align 1, !pcsections !{!"ft", !{i32 0}}, !dbg !DILocation(line: 2, scope: !16)
  %t6 = getelementptr i8, ptr addrspace(258) %context, i64 48, !dbg !DILocation(line: 4, scope: !16)
  store volatile i32 1, ptr addrspace(258) %t6, align 4, !dbg !DILocation(line: 4, scope: !16)
  %v10 = zext i32 %v2 to i64, !dbg !DILocation(line: 5, scope: !16)
  %v11 = add i64 %v5, %v10, !dbg !DILocation(line: 5, scope: !16)
  %t7 = inttoptr i64 %v5 to ptr, !dbg !DILocation(line: 5, scope: !16)
  %t8 = getelementptr i8, ptr %t7, i64 %v10, !dbg !DILocation(line: 5, scope: !16)
  %t9 = load volatile i8, ptr %t8, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 5, scope: !16)
  %v12 = sext i8 %t9 to i32, !dbg !DILocation(line: 5, scope: !16)
  ret i32 %v12, !dbg !DILocation(line: 6, scope: !16)
}

; trap: function 0
define dso_local i32 @wf0(ptr addrspace(258) noundef align 8 dereferenceable(64) %context, i64 %v1, i32 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !16 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = getelementptr i8, ptr addrspace(258) %context, i64 32, !dbg !DILocation(line: 2, scope: !16)
  %v5 = load i64, ptr addrspace(258) %t1, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %t2 = getelementptr i8, ptr addrspace(258) %context, i64 40, !dbg !DILocation(line: 2, scope: !16)
  %v6 = load i64, ptr addrspace(258) %t2, align 8, !invariant.load !0, !dbg !DILocation(line: 2, scope: !16)
  %v7 = zext i32 %v2 to i64, !dbg !DILocation(line: 2, scope: !16)
  %t3 = inttoptr i64 %v6 to ptr addrspace(258), !dbg !DILocation(line: 3, scope: !16)
  %t4 = getelementptr i8, ptr addrspace(258) %t3, i64 8, !dbg !DILocation(line: 3, scope: !16)
  %v8 = load atomic i64, ptr addrspace(258) %t4 unordered, align 8, !dbg !DILocation(line: 3, scope: !16)
  %t5 = icmp uge i64 %v7, %v8, !dbg !DILocation(line: 3, scope: !16)
  %v9 = zext i1 %t5 to i8, !dbg !DILocation(line: 3, scope: !16)
  %t6 = icmp ne i8 %v9, 0, !dbg !DILocation(line: 3, scope: !16)
  br i1 %t6, label %x7, label %g7, !prof !1, !dbg !DILocation(line: 3, scope: !16)
x7:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 3, scope: !16)
  unreachable
g7:
  %v10 = add i64 %v5, %v7, !dbg !DILocation(line: 4, scope: !16)
  %t8 = inttoptr i64 %v5 to ptr, !dbg !DILocation(line: 4, scope: !16)
  %t9 = getelementptr i8, ptr %t8, i64 %v7, !dbg !DILocation(line: 4, scope: !16)
  %t10 = getelementptr i8, ptr %t9, i64 8, !dbg !DILocation(line: 4, scope: !16)
  store volatile i32 7, ptr %t10, align 1, !pcsections !{!"ft", !{i32 1}}, !dbg !DILocation(line: 4, scope: !16)
  %t11 = getelementptr i8, ptr addrspace(258) %context, i64 48, !dbg !DILocation(line: 6, scope: !16)
  store volatile i32 1, ptr addrspace(258) %t11, align 4, !dbg !DILocation(line: 6, scope: !16)
  %v12 = zext i32 %v2 to i64, !dbg !DILocation(line: 7, scope: !16)
  %t12 = inttoptr i64 %v6 to ptr addrspace(258), !dbg !DILocation(line: 8, scope: !16)
  %t13 = getelementptr i8, ptr addrspace(258) %t12, i64 8, !dbg !DILocation(line: 8, scope: !16)
  %v13 = load atomic i64, ptr addrspace(258) %t13 unordered, align 8, !dbg !DILocation(line: 8, scope: !16)
  %t14 = icmp uge i64 %v12, %v13, !dbg !DILocation(line: 8, scope: !16)
  %v14 = zext i1 %t14 to i8, !dbg !DILocation(line: 8, scope: !16)
  %t15 = icmp ne i8 %v14, 0, !dbg !DILocation(line: 8, scope: !16)
  br i1 %t15, label %x16, label %g16, !prof !1, !dbg !DILocation(line: 8, scope: !16)
x16:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf0, 0, 2\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 8, scope: !16)
  unreachable
g16:
  %v15 = add i64 %v5, %v12, !dbg !DILocation(line: 9, scope: !16)
  %t17 = inttoptr i64 %v5 to ptr, !dbg !DILocation(line: 9, scope: !16)
  %t18 = getelementptr i8, ptr %t17, i64 %v12, !dbg !DILocation(line: 9, scope: !16)
  %t19 = load volatile i8, ptr %t18, align 1, !pcsections !{!"ft", !{i32 3}}, !dbg !DILocation(line: 9, scope: !16)
  %v16 = sext i8 %t19 to i32, !dbg !DILocation(line: 9, scope: !16)
  ret i32 %v16, !dbg !DILocation(line: 10, scope: !16)
}

