"""Operations that select, rearrange or repeat elements."""
