; guard: function 0
define dso_local i32 @wf0(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i32 %v2) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !16 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  ret i32 %v2, !dbg !DILocation(line: 1, scope: !16)
}

; guard: function 1
; Cranelift's: return_call

; guard: function 2
define dso_local i32 @wf2(ptr addrspace(258) noundef align 8 dereferenceable(48) %context, i64 %v1, i32 %v2, i32 %v3, i32 %v4, i32 %v5) #0 prologue [29 x i8] c"\55\48\89\E5\4C\8B\17\4D\8B\92\00\00\00\00\4D\8D\92\00\00\00\00\4C\39\D4\73\02\0F\0B\5D" !dbg !18 {
entry:
  %v0 = ptrtoint ptr addrspace(258) %context to i64
  br label %b0
b0:
  %v6 = load volatile i64, ptr addrspace(258) %context, align 8, !dbg !DILocation(line: 1, scope: !18)
  %t1 = inttoptr i64 %v6 to ptr addrspace(258), !dbg !DILocation(line: 1, scope: !18)
  %t2 = getelementptr i8, ptr addrspace(258) %t1, i64 384, !dbg !DILocation(line: 1, scope: !18)
  %v7 = load atomic i32, ptr addrspace(258) %t2 unordered, align 4, !dbg !DILocation(line: 1, scope: !18)
  ret i32 %v7, !dbg !DILocation(line: 2, scope: !18)
}

; guard: function 3
; Cranelift's: try_call

