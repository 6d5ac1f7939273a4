import { setImmediate } from 'node:timers/promises'
import type { Random } from '../../src/store/suite/support/random.ts'
import type { ModelAnswer } from './model-server.ts'

/** Returns answers of {@link COMPANY}'s model, half of them good, in another order than the requests. */
export function oddAnswers(random: Random): () => Promise<ModelAnswer> {
  const answers: readonly (() => ModelAnswer)[] = [
    () => ({ json: { industry: 'Retail', staff: 1 + random.below(99) } }),
    () => ({ json: { industry: 'Banking', staff: 3 } }),
    () => ({ text: 'x'.repeat(random.below(400)) }),
    () => ({ refusal: 'No.' }),
    () => ({ status: 529 }),
    () => ({ status: 500 }),
    () => ({ hangUp: true }),
  ]
  return async () => {
    for (let turns = random.below(6); turns > 0; turns--) await setImmediate()
    return answers[random.chance(0.5) ? 0 : random.below(answers.length)]?.() ?? { hangUp: true }
  }
}
