import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/**
 * What axe finds on a page by these of its rules, or by all. The pages are without frames: axe runs as a whole in the page,
 * and tells nothing but violations, which takes half the time.
 */
export async function axeFaults(page: Page, rules: string[] | null = null): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const { violations } = await (rules === null ? axe : axe.withRules(rules)).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}
