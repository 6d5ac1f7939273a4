/** The outcomes of steps in words. */
const OUTCOMES: Readonly<Record<string, string>> = {
  accepted: 'accepted',
  null: 'no value',
  refused: 'refused',
  failed: 'failed',
  skipped: 'skipped',
}

/**
 * Returns the steps that a fallback tried, as its provenance entry has them (`steps`), a line each; null for anything else, since a log may
 * have been written by another program.
 */
export function stepLines(steps: unknown, money: (dollars: number) => string): readonly string[] | null {
  if (!Array.isArray(steps) || steps.length === 0) return null
  const lines = (steps as readonly unknown[]).flatMap((step) => lineOf(step, money) ?? [])
  return lines.length === steps.length ? lines : null
}

function lineOf(step: unknown, money: (dollars: number) => string): string | null {
  if (typeof step !== 'object' || step === null) return null
  const { step: number, kind, outcome, detail, cost, cached } = step as Readonly<Record<string, unknown>>
  if (typeof number !== 'number' || typeof kind !== 'string' || typeof outcome !== 'string') return null
  const words = Object.hasOwn(OUTCOMES, outcome) ? OUTCOMES[outcome] : outcome
  const reason = typeof detail === 'string' ? `: ${detail}` : ''
  const notes = [
    ...(typeof cost === 'number' && cost > 0 ? [money(cost)] : []),
    ...(cached === true ? ['cached'] : []),
  ]
  return `${number} ${kind}, ${words}${reason}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
}
