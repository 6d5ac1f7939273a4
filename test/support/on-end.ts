import type { TestContext } from 'node:test'

const STACKS = new WeakMap<Pick<TestContext, 'after'>, (() => unknown)[]>()

/** Registers a cleanup for the end of a test; the last registered runs first, unlike with `t.after`. */
export function onEnd(t: Pick<TestContext, 'after'>, undo: () => unknown): void {
  const known = STACKS.get(t)
  if (known !== undefined) {
    known.push(undo)
    return
  }
  const stack = [undo]
  STACKS.set(t, stack)
  t.after(async () => {
    for (const step of stack.toReversed()) await step()
  })
}
