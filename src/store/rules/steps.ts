/**
 * An operation in steps that need data of the store, written once for both engines: each step completes at once on SQLite,
 * and after a round trip on PostgreSQL. `const row = yield* load(store.row(id))` is one step.
 */
export type Steps<T> = Generator<unknown, T, unknown>

/** A value that an engine returns at once or later. */
export type Loaded<T> = T | Promise<T>

/** Waits for a value of the store. */
export function* load<T>(value: Loaded<T>): Generator<unknown, T, unknown> {
  // The drivers return the yielded value, settled.
  return (yield value) as T
}

/** Carries out steps none of which returns a promise. */
export function runSync<T>(steps: Steps<T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next(step.value)
  return step.value
}

/** Carries out steps that may return promises, one after the other. */
export async function runAsync<T>(steps: Steps<T>): Promise<T> {
  let step = steps.next()
  while (step.done !== true) {
    let value: unknown
    try {
      value = await step.value
    } catch (error) {
      step = steps.throw(error)
      continue
    }
    step = steps.next(value)
  }
  return step.value
}
