/** Counts the turns of the event loop for other work until a promise settles. */
export async function countTurns<T>(asked: Promise<T>): Promise<{ answer: T; turns: number }> {
  let turns = 0
  let waiting = true
  const count = (): void => {
    turns += 1
    if (waiting) setImmediate(count)
  }
  setImmediate(count)
  try {
    return { answer: await asked, turns }
  } finally {
    waiting = false
  }
}
