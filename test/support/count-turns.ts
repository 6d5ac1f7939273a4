/** Counts the turns that the event loop has for others until what was asked for is there. */
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
