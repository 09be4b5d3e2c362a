@transpose_padded.t = internal unnamed_addr addrspace(3) global [32 x [33 x float]] undef, align 4
@transpose.t = internal unnamed_addr addrspace(3) global [32 x [32 x float]] undef, align 4
@neighbors.t = internal unnamed_addr addrspace(3) global [64 x float] undef, align 4

define dso_local spir_kernel void @copy(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %b) local_unnamed_addr #0 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %0 = shl i64 %call, 32
  %idxprom = ashr exact i64 %0, 32
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %1 = load float, ptr addrspace(1) %arrayidx, align 4
  %arrayidx2 = getelementptr inbounds float, ptr addrspace(1) %b, i64 %idxprom
  store float %1, ptr addrspace(1) %arrayidx2, align 4
  ret void
}

define dso_local spir_kernel void @strided(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %b, i32 noundef %n) local_unnamed_addr #0 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %mul = mul nsw i32 %conv, %n
  %idxprom = sext i32 %mul to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4
  %idxprom1 = sext i32 %conv to i64
  %arrayidx2 = getelementptr inbounds float, ptr addrspace(1) %b, i64 %idxprom1
  store float %0, ptr addrspace(1) %arrayidx2, align 4
  ret void
}

define dso_local spir_kernel void @transpose_padded(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %b, i32 noundef %n) local_unnamed_addr #2 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %call1 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #7
  %call1.tr = trunc i64 %call1 to i32
  %conv2 = shl i32 %call1.tr, 5
  %call3 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 1) #7
  %call3.tr = trunc i64 %call3 to i32
  %conv5 = shl i32 %call3.tr, 5
  %add8 = add i32 %conv2, %conv
  %idxprom12 = sext i32 %conv to i64
  br label %for.body
for.cond.cleanup:                                 ; preds = %for.body
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #8
  %idxprom20 = sext i32 %conv to i64
  %add26 = add i32 %conv5, %conv
  br label %for.body19
for.body:                                         ; preds = %entry, %for.body
  %k.045 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %add = add nuw nsw i32 %k.045, %conv5
  %mul7 = mul nsw i32 %add, %n
  %add9 = add i32 %add8, %mul7
  %idxprom = sext i32 %add9 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4
  %idxprom10 = zext nneg i32 %k.045 to i64
  %arrayidx13 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose_padded.t, i64 0, i64 %idxprom10, i64 %idxprom12
  store float %0, ptr addrspace(3) %arrayidx13, align 4
  %inc = add nuw nsw i32 %k.045, 1
  %cmp = icmp ult i32 %k.045, 31
  br i1 %cmp, label %for.body, label %for.cond.cleanup
for.cond.cleanup18:                               ; preds = %for.body19
  ret void
for.body19:                                       ; preds = %for.cond.cleanup, %for.body19
  %k14.046 = phi i32 [ 0, %for.cond.cleanup ], [ %inc31, %for.body19 ]
  %idxprom22 = zext nneg i32 %k14.046 to i64
  %arrayidx23 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose_padded.t, i64 0, i64 %idxprom20, i64 %idxprom22
  %1 = load float, ptr addrspace(3) %arrayidx23, align 4
  %add24 = add nuw nsw i32 %k14.046, %conv2
  %mul25 = mul nsw i32 %add24, %n
  %add27 = add i32 %add26, %mul25
  %idxprom28 = sext i32 %add27 to i64
  %arrayidx29 = getelementptr inbounds float, ptr addrspace(1) %b, i64 %idxprom28
  store float %1, ptr addrspace(1) %arrayidx29, align 4
  %inc31 = add nuw nsw i32 %k14.046, 1
  %cmp16 = icmp ult i32 %k14.046, 31
  br i1 %cmp16, label %for.body19, label %for.cond.cleanup18
}

define dso_local spir_kernel void @transpose(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %b, i32 noundef %n) local_unnamed_addr #2 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %call1 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #7
  %call1.tr = trunc i64 %call1 to i32
  %conv2 = shl i32 %call1.tr, 5
  %call3 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 1) #7
  %call3.tr = trunc i64 %call3 to i32
  %conv5 = shl i32 %call3.tr, 5
  %add8 = add i32 %conv2, %conv
  %idxprom12 = sext i32 %conv to i64
  br label %for.body
for.cond.cleanup:                                 ; preds = %for.body
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #8
  %idxprom20 = sext i32 %conv to i64
  %add26 = add i32 %conv5, %conv
  br label %for.body19
for.body:                                         ; preds = %entry, %for.body
  %k.045 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %add = add nuw nsw i32 %k.045, %conv5
  %mul7 = mul nsw i32 %add, %n
  %add9 = add i32 %add8, %mul7
  %idxprom = sext i32 %add9 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4
  %idxprom10 = zext nneg i32 %k.045 to i64
  %arrayidx13 = getelementptr inbounds [32 x [32 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %idxprom10, i64 %idxprom12
  store float %0, ptr addrspace(3) %arrayidx13, align 4
  %inc = add nuw nsw i32 %k.045, 1
  %cmp = icmp ult i32 %k.045, 31
  br i1 %cmp, label %for.body, label %for.cond.cleanup
for.cond.cleanup18:                               ; preds = %for.body19
  ret void
for.body19:                                       ; preds = %for.cond.cleanup, %for.body19
  %k14.046 = phi i32 [ 0, %for.cond.cleanup ], [ %inc31, %for.body19 ]
  %idxprom22 = zext nneg i32 %k14.046 to i64
  %arrayidx23 = getelementptr inbounds [32 x [32 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %idxprom20, i64 %idxprom22
  %1 = load float, ptr addrspace(3) %arrayidx23, align 4
  %add24 = add nuw nsw i32 %k14.046, %conv2
  %mul25 = mul nsw i32 %add24, %n
  %add27 = add i32 %add26, %mul25
  %idxprom28 = sext i32 %add27 to i64
  %arrayidx29 = getelementptr inbounds float, ptr addrspace(1) %b, i64 %idxprom28
  store float %1, ptr addrspace(1) %arrayidx29, align 4
  %inc31 = add nuw nsw i32 %k14.046, 1
  %cmp16 = icmp ult i32 %k14.046, 31
  br i1 %cmp16, label %for.body19, label %for.cond.cleanup18
}

define dso_local spir_kernel void @sum(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef readonly align 4 %b, ptr addrspace(1) nocapture noundef writeonly align 4 %c, i32 noundef %depth) local_unnamed_addr #4 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %cmp13 = icmp sgt i32 %depth, 0
  br i1 %cmp13, label %for.body.lr.ph, label %for.cond.cleanup
for.body.lr.ph:                                   ; preds = %entry
  %mul = mul nsw i32 %conv, %depth
  br label %for.body
for.cond.cleanup:                                 ; preds = %for.body, %entry
  %s.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %2, %for.body ]
  %idxprom5 = sext i32 %conv to i64
  %arrayidx6 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %idxprom5
  store float %s.0.lcssa, ptr addrspace(1) %arrayidx6, align 4
  ret void
for.body:                                         ; preds = %for.body.lr.ph, %for.body
  %k.015 = phi i32 [ 0, %for.body.lr.ph ], [ %inc, %for.body ]
  %s.014 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %2, %for.body ]
  %add = add nsw i32 %k.015, %mul
  %idxprom = sext i32 %add to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4
  %idxprom2 = zext nneg i32 %k.015 to i64
  %arrayidx3 = getelementptr inbounds float, ptr addrspace(1) %b, i64 %idxprom2
  %1 = load float, ptr addrspace(1) %arrayidx3, align 4
  %2 = tail call float @llvm.fmuladd.f32(float %0, float %1, float %s.014)
  %inc = add nuw nsw i32 %k.015, 1
  %cmp = icmp slt i32 %inc, %depth
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}

define dso_local spir_kernel void @bytes(ptr addrspace(1) nocapture noundef readonly align 1 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %c, i32 noundef %depth) local_unnamed_addr #4 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %cmp11 = icmp sgt i32 %depth, 0
  br i1 %cmp11, label %for.body.lr.ph, label %for.cond.cleanup
for.body.lr.ph:                                   ; preds = %entry
  %mul = mul nsw i32 %conv, %depth
  br label %for.body
for.cond.cleanup:                                 ; preds = %for.body, %entry
  %s.0.lcssa = phi i32 [ 0, %entry ], [ %add3, %for.body ]
  %idxprom4 = sext i32 %conv to i64
  %arrayidx5 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %idxprom4
  store i32 %s.0.lcssa, ptr addrspace(1) %arrayidx5, align 4
  ret void
for.body:                                         ; preds = %for.body.lr.ph, %for.body
  %k.013 = phi i32 [ 0, %for.body.lr.ph ], [ %inc, %for.body ]
  %s.012 = phi i32 [ 0, %for.body.lr.ph ], [ %add3, %for.body ]
  %add = add nsw i32 %k.013, %mul
  %idxprom = sext i32 %add to i64
  %arrayidx = getelementptr inbounds i8, ptr addrspace(1) %a, i64 %idxprom
  %0 = load i8, ptr addrspace(1) %arrayidx, align 1
  %conv2 = zext i8 %0 to i32
  %add3 = add nuw nsw i32 %s.012, %conv2
  %inc = add nuw nsw i32 %k.013, 1
  %cmp = icmp slt i32 %inc, %depth
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}

define dso_local spir_kernel void @divergent(ptr addrspace(1) nocapture noundef align 4 %a, i32 noundef %n) local_unnamed_addr #0 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %0 = and i32 %conv, 1
  %tobool.not = icmp eq i32 %0, 0
  %idxprom3 = sext i32 %conv to i64
  %arrayidx4 = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom3
  %1 = load float, ptr addrspace(1) %arrayidx4, align 4
  br i1 %tobool.not, label %if.else, label %if.then
if.then:                                          ; preds = %entry
  %mul = fmul float %1, 2.000000e+00
  br label %if.end
if.else:                                          ; preds = %entry
  %div = fdiv float %1, 3.000000e+00
  %add = fadd float %div, 1.000000e+00
  br label %if.end
if.end:                                           ; preds = %if.else, %if.then
  %add.sink = phi float [ %add, %if.else ], [ %mul, %if.then ]
  store float %add.sink, ptr addrspace(1) %arrayidx4, align 4
  %cmp = icmp slt i32 %conv, %n
  br i1 %cmp, label %if.then8, label %if.end12
if.then8:                                         ; preds = %if.end
  %2 = sext i32 %conv to i64
  %3 = getelementptr float, ptr addrspace(1) %a, i64 %2
  %arrayidx11 = getelementptr i8, ptr addrspace(1) %3, i64 4096
  store float 1.000000e+00, ptr addrspace(1) %arrayidx11, align 4
  br label %if.end12
if.end12:                                         ; preds = %if.then8, %if.end
  ret void
}

define dso_local spir_kernel void @nested(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %c, i32 noundef %rows, i32 noundef %columns) local_unnamed_addr #4 {
entry:
  %cmp24 = icmp sgt i32 %rows, 0
  br i1 %cmp24, label %for.cond1.preheader.lr.ph, label %for.cond.cleanup
for.cond1.preheader.lr.ph:                        ; preds = %entry
  %cmp221 = icmp sgt i32 %columns, 0
  br label %for.cond1.preheader
for.cond1.preheader:                              ; preds = %for.cond1.preheader.lr.ph, %for.cond.cleanup3
  %i.026 = phi i32 [ 0, %for.cond1.preheader.lr.ph ], [ %inc10, %for.cond.cleanup3 ]
  %s.025 = phi float [ 0.000000e+00, %for.cond1.preheader.lr.ph ], [ %mul8, %for.cond.cleanup3 ]
  br i1 %cmp221, label %for.body4.lr.ph, label %for.cond.cleanup3
for.body4.lr.ph:                                  ; preds = %for.cond1.preheader
  %mul = mul nuw nsw i32 %i.026, %columns
  br label %for.body4
for.cond.cleanup:                                 ; preds = %for.cond.cleanup3, %entry
  %s.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %mul8, %for.cond.cleanup3 ]
  %call12 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %arrayidx13 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %call12
  store float %s.0.lcssa, ptr addrspace(1) %arrayidx13, align 4
  ret void
for.cond.cleanup3:                                ; preds = %for.body4, %for.cond1.preheader
  %s.1.lcssa = phi float [ %s.025, %for.cond1.preheader ], [ %add7, %for.body4 ]
  %mul8 = fmul float %s.1.lcssa, 2.000000e+00
  %inc10 = add nuw nsw i32 %i.026, 1
  %cmp = icmp slt i32 %inc10, %rows
  br i1 %cmp, label %for.cond1.preheader, label %for.cond.cleanup
for.body4:                                        ; preds = %for.body4.lr.ph, %for.body4
  %j.023 = phi i32 [ 0, %for.body4.lr.ph ], [ %inc, %for.body4 ]
  %s.122 = phi float [ %s.025, %for.body4.lr.ph ], [ %add7, %for.body4 ]
  %add = add nuw nsw i32 %j.023, %mul
  %mul5 = shl nsw i32 %add, 5
  %conv = zext nneg i32 %mul5 to i64
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #7
  %0 = getelementptr float, ptr addrspace(1) %a, i64 %call
  %arrayidx = getelementptr float, ptr addrspace(1) %0, i64 %conv
  %1 = load float, ptr addrspace(1) %arrayidx, align 4
  %add7 = fadd float %s.122, %1
  %inc = add nuw nsw i32 %j.023, 1
  %cmp2 = icmp slt i32 %inc, %columns
  br i1 %cmp2, label %for.body4, label %for.cond.cleanup3
}

define dso_local spir_kernel void @vector(ptr addrspace(1) noundef align 4 %a, ptr addrspace(1) noundef align 4 %b) local_unnamed_addr #2 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %0 = shl i64 %call, 32
  %conv1 = ashr exact i64 %0, 32
  %call2 = tail call spir_func <16 x float> @_Z7vload16mPU3AS1Kf(i64 noundef %conv1, ptr addrspace(1) noundef %a) #9
  %add = fadd <16 x float> %call2, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>
  tail call spir_func void @_Z8vstore16Dv16_fmPU3AS1f(<16 x float> noundef %add, i64 noundef %conv1, ptr addrspace(1) noundef %b) #8
  ret void
}

define dso_local spir_kernel void @halves(ptr addrspace(1) noundef align 2 %a, ptr addrspace(1) noundef align 2 %b) local_unnamed_addr #2 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %0 = shl i64 %call, 32
  %conv1 = ashr exact i64 %0, 32
  %call2 = tail call spir_func <16 x float> @_Z12vload_half16mPU3AS1KDh(i64 noundef %conv1, ptr addrspace(1) noundef %a) #9
  tail call spir_func void @_Z13vstore_half16Dv16_fmPU3AS1Dh(<16 x float> noundef %call2, i64 noundef %conv1, ptr addrspace(1) noundef %b) #8
  ret void
}

define dso_local spir_kernel void @prefetch(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %c, i32 noundef %depth) local_unnamed_addr #4 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %idxprom = sext i32 %conv to i64
  %next.0.in16 = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %next.017 = load float, ptr addrspace(1) %next.0.in16, align 4
  %cmp18 = icmp sgt i32 %depth, 1
  br i1 %cmp18, label %for.body, label %for.cond.cleanup
for.cond.cleanup:                                 ; preds = %for.body, %entry
  %s.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %0, %for.body ]
  %next.0.lcssa = phi float [ %next.017, %entry ], [ %next.0, %for.body ]
  %add5 = fadd float %s.0.lcssa, %next.0.lcssa
  %arrayidx7 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %idxprom
  store float %add5, ptr addrspace(1) %arrayidx7, align 4
  ret void
for.body:                                         ; preds = %entry, %for.body
  %next.021 = phi float [ %next.0, %for.body ], [ %next.017, %entry ]
  %k.020 = phi i32 [ %inc, %for.body ], [ 1, %entry ]
  %s.019 = phi float [ %0, %for.body ], [ 0.000000e+00, %entry ]
  %mul = shl nsw i32 %k.020, 10
  %add = add nsw i32 %mul, %conv
  %idxprom2 = sext i32 %add to i64
  %0 = tail call float @llvm.fmuladd.f32(float %next.021, float %next.021, float %s.019)
  %inc = add nuw nsw i32 %k.020, 1
  %next.0.in = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom2
  %next.0 = load float, ptr addrspace(1) %next.0.in, align 4
  %cmp = icmp slt i32 %inc, %depth
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}

define dso_local spir_kernel void @waiting(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %c, i32 noundef %depth) local_unnamed_addr #4 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %cmp10 = icmp sgt i32 %depth, 1
  br i1 %cmp10, label %for.body, label %for.cond.cleanup
for.cond.cleanup:                                 ; preds = %for.body, %entry
  %s.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %1, %for.body ]
  %idxprom3 = sext i32 %conv to i64
  %arrayidx4 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %idxprom3
  store float %s.0.lcssa, ptr addrspace(1) %arrayidx4, align 4
  ret void
for.body:                                         ; preds = %entry, %for.body
  %s.012 = phi float [ %1, %for.body ], [ 0.000000e+00, %entry ]
  %k.011 = phi i32 [ %inc, %for.body ], [ 1, %entry ]
  %mul = shl nsw i32 %k.011, 10
  %add = add nsw i32 %mul, %conv
  %idxprom = sext i32 %add to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4
  %1 = tail call float @llvm.fmuladd.f32(float %0, float %0, float %s.012)
  %inc = add nuw nsw i32 %k.011, 1
  %cmp = icmp slt i32 %inc, %depth
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}

define dso_local spir_kernel void @neighbors(ptr addrspace(1) nocapture noundef align 4 %a) local_unnamed_addr #2 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %idxprom = sext i32 %conv to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4
  %arrayidx2 = getelementptr inbounds [64 x float], ptr addrspace(3) @neighbors.t, i64 0, i64 %idxprom
  store float %0, ptr addrspace(3) %arrayidx2, align 4
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #8
  %cmp = icmp eq i32 %conv, 0
  br i1 %cmp, label %if.then, label %if.end
if.then:                                          ; preds = %entry
  %1 = load float, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @neighbors.t, i64 4), align 4
  %2 = load float, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @neighbors.t, i64 20), align 4
  %add = fadd float %1, %2
  store float %add, ptr addrspace(1) %a, align 4
  br label %if.end
if.end:                                           ; preds = %if.then, %entry
  ret void
}

define dso_local spir_kernel void @triangle(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %c) local_unnamed_addr #4 {
entry:
  br label %for.cond
for.cond:                                         ; preds = %for.body, %entry
  %s.0 = phi float [ 0.000000e+00, %entry ], [ %add, %for.body ]
  %k.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %cmp = icmp slt i32 %k.0, %conv
  br i1 %cmp, label %for.body, label %for.cond.cleanup
for.cond.cleanup:                                 ; preds = %for.cond
  %call2 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %arrayidx3 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %call2
  store float %s.0, ptr addrspace(1) %arrayidx3, align 4
  ret void
for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %k.0 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4
  %add = fadd float %s.0, %0
  %inc = add nuw nsw i32 %k.0, 1
  br label %for.cond
}

define dso_local spir_kernel void @alternating(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %c, i32 noundef %n) local_unnamed_addr #2 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #7
  %conv = trunc i64 %call to i32
  %cmp16 = icmp sgt i32 %n, 0
  br i1 %cmp16, label %for.body.lr.ph, label %for.cond.cleanup
for.body.lr.ph:                                   ; preds = %entry
  %invariant.gep = getelementptr i8, ptr addrspace(1) %c, i64 256
  %idxprom = sext i32 %conv to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = sext i32 %conv to i64
  %gep = getelementptr float, ptr addrspace(1) %invariant.gep, i64 %0
  br label %for.body
for.cond.cleanup:                                 ; preds = %if.end, %entry
  %s.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %s.1, %if.end ]
  %idxprom6 = sext i32 %conv to i64
  %arrayidx7 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %idxprom6
  store float %s.0.lcssa, ptr addrspace(1) %arrayidx7, align 4
  ret void
for.body:                                         ; preds = %for.body.lr.ph, %if.end
  %k.018 = phi i32 [ 0, %for.body.lr.ph ], [ %inc, %if.end ]
  %s.017 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %s.1, %if.end ]
  %add = add nsw i32 %k.018, %conv
  %1 = and i32 %add, 1
  %tobool.not = icmp eq i32 %1, 0
  br i1 %tobool.not, label %if.else, label %if.then
if.then:                                          ; preds = %for.body
  %2 = load float, ptr addrspace(1) %arrayidx, align 4
  %add2 = fadd float %s.017, %2
  br label %if.end
if.else:                                          ; preds = %for.body
  store float %s.017, ptr addrspace(1) %gep, align 4
  br label %if.end
if.end:                                           ; preds = %if.else, %if.then
  %s.1 = phi float [ %add2, %if.then ], [ %s.017, %if.else ]
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #8
  %inc = add nuw nsw i32 %k.018, 1
  %cmp = icmp slt i32 %inc, %n
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}
