import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/**
 * Returns the violations that axe finds on a page by these of its rules, or by all, outside of some elements. The pages have no frames: axe
 * runs as a whole in the page, and reports only violations, which takes half the time.
 */
export async function axeFaults(
  page: Page,
  { rules = null, exclude = null }: { rules?: string[] | null; exclude?: string | null } = {},
): Promise<string[]> {
  const all = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const axe = exclude === null ? all : all.exclude(exclude)
  const { violations } = await (rules === null ? axe : axe.withRules(rules)).analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => {
      const data: unknown = any[0]?.data
      // The colours and sizes that it measured.
      const measured = id === 'color-contrast' && data !== undefined ? ` ${JSON.stringify(data)}` : ''
      return `${id}: ${html.slice(0, 160)}${measured}`
    }),
  )
}
