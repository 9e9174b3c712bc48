; guard: function 0
define dso_local double @wf0(ptr addrspace(258) noundef align 8 dereferenceable(32) %context, i64 %v1, double %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !16 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = bitcast i64 4607182418800017408 to double, !dbg !DILocation(line: 1, scope: !16)
  %v4 = call double asm "", "=x,0"(double %t1) #3, !dbg !DILocation(line: 1, scope: !16)
  %v5 = fmul double %v2, %v4, !dbg !DILocation(line: 2, scope: !16)
  ret double %v5, !dbg !DILocation(line: 3, scope: !16)
}

; guard: function 1
define dso_local double @wf1(ptr addrspace(258) noundef align 8 dereferenceable(32) %context, i64 %v1, double %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !17 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %v4 = bitcast i64 4613937818241073152 to double, !dbg !DILocation(line: 1, scope: !17)
  %v5 = fmul double %v2, %v4, !dbg !DILocation(line: 2, scope: !17)
  ret double %v5, !dbg !DILocation(line: 3, scope: !17)
}

; guard: function 2
define dso_local float @wf2(ptr addrspace(258) noundef align 8 dereferenceable(32) %context, i64 %v1, float %v2, float %v3) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !18 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = bitcast float %v2 to i32, !dbg !DILocation(line: 1, scope: !18)
  %t2 = bitcast float %v3 to i32, !dbg !DILocation(line: 1, scope: !18)
  %t3 = or i32 %t1, %t2, !dbg !DILocation(line: 1, scope: !18)
  %t4 = bitcast i32 %t3 to float, !dbg !DILocation(line: 1, scope: !18)
  %t5 = fadd float %v2, %v3, !dbg !DILocation(line: 1, scope: !18)
  %t6 = fcmp olt float %v2, %v3, !dbg !DILocation(line: 1, scope: !18)
  %t7 = fcmp oeq float %v2, %v3, !dbg !DILocation(line: 1, scope: !18)
  %t8 = fcmp uno float %v2, %v3, !dbg !DILocation(line: 1, scope: !18)
  %t9 = select i1 %t6, float %v2, float %v3, !dbg !DILocation(line: 1, scope: !18)
  %t10 = select i1 %t7, float %t4, float %t9, !dbg !DILocation(line: 1, scope: !18)
  %v5 = select i1 %t8, float %t5, float %t10, !dbg !DILocation(line: 1, scope: !18)
  ret float %v5, !dbg !DILocation(line: 2, scope: !18)
}

; guard: function 3
define dso_local i32 @wf3(ptr addrspace(258) noundef align 8 dereferenceable(32) %context, i64 %v1, double %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !19 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %t1 = fcmp uno double %v2, %v2, !dbg !DILocation(line: 1, scope: !19)
  br i1 %t1, label %x2, label %g2, !prof !1, !dbg !DILocation(line: 1, scope: !19)
x2:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf3, 3, 0\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !19)
  unreachable
g2:
  %t3 = bitcast i64 -4476578029604175872 to double, !dbg !DILocation(line: 1, scope: !19)
  %t4 = fcmp ole double %v2, %t3, !dbg !DILocation(line: 1, scope: !19)
  br i1 %t4, label %x5, label %g5, !prof !1, !dbg !DILocation(line: 1, scope: !19)
x5:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf3, 3, 1\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !19)
  unreachable
g5:
  %t6 = bitcast i64 4746794007248502784 to double, !dbg !DILocation(line: 1, scope: !19)
  %t7 = fcmp oge double %v2, %t6, !dbg !DILocation(line: 1, scope: !19)
  br i1 %t7, label %x8, label %g8, !prof !1, !dbg !DILocation(line: 1, scope: !19)
x8:
  call void asm sideeffect "1: ud2\0A.pushsection .fathom.traps,\22\22,@progbits\0A.long 1b - wf3, 3, 2\0A.popsection", "~{memory}"() #2, !dbg !DILocation(line: 1, scope: !19)
  unreachable
g8:
  %v4 = fptosi double %v2 to i32, !dbg !DILocation(line: 1, scope: !19)
  ret i32 %v4, !dbg !DILocation(line: 2, scope: !19)
}

; guard: function 4
define dso_local float @wf4(ptr addrspace(258) noundef align 8 dereferenceable(32) %context, i64 %v1, float %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !20 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %v4 = fpext float %v2 to double, !dbg !DILocation(line: 1, scope: !20)
  %t1 = call double asm "", "=x,0"(double %v4) #3, !dbg !DILocation(line: 2, scope: !20)
  %v5 = fptrunc double %t1 to float, !dbg !DILocation(line: 2, scope: !20)
  ret float %v5, !dbg !DILocation(line: 3, scope: !20)
}

