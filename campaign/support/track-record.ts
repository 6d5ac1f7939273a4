import { readFileSync } from 'node:fs'
import type { Engine } from '../../test/support/engine.ts'
import type { Campaign, Counts } from '../campaign.ts'
import { added, isReached, partsOf, type Part } from './progress.ts'

const BEGIN = '<!-- Written by npm run campaign -->'
const END = '<!-- End of what npm run campaign writes -->'

const ENGINES: Readonly<Record<Engine, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

/** Returns the text of a page with the table of all campaigns in place of the one between its two comments. */
export function withTable(page: string, campaigns: readonly Campaign[], parts: readonly Part[]): string {
  const text = readFileSync(page, 'utf8')
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`${page} has no place for the table: ${BEGIN} and ${END}`)
  return `${text.slice(0, begin + BEGIN.length)}\n\n${table(campaigns, parts)}\n${text.slice(end)}`
}

function table(campaigns: readonly Campaign[], parts: readonly Part[]): string {
  const sections = campaigns.map((campaign) => {
    const rows = campaign.engines.map((engine) => row(campaign, engine, partsOf(parts, campaign, engine)))
    return [
      `### ${campaign.attack}`,
      `${campaign.claim} Goal on each engine: ${shown(campaign.goal)}.`,
      [
        '| Engine | Done | State | Time | Commits | Last seed | Repeat with |',
        '| --- | --- | --- | --- | --- | --- | --- |',
        ...rows,
      ].join('\n'),
      '',
    ].join('\n\n')
  })
  return sections.join('\n').trimEnd().concat('\n')
}

function row(campaign: Campaign, engine: Engine, parts: readonly Part[]): string {
  const last = parts.at(-1)
  if (last === undefined) return `| ${ENGINES[engine]} | nothing yet | not begun | | | | |`
  const counts = parts.reduce<Counts>((sum, part) => added(sum, part.counts), {})
  const seconds = parts.reduce((sum, part) => sum + part.seconds, 0)
  const commits = [
    ...new Set(parts.map((part) => part.commit.slice(0, 8) + (part.modified ? ' (modified)' : ''))),
  ]
  const state = isReached(campaign.goal, counts) ? 'reached' : 'not reached yet'
  const notes = parts.flatMap(({ note }) => (note === null ? [] : [note]))
  const command = `\`npm run campaign -- ${campaign.name} --engine ${engine} --seed ${last.seed} --again\``
  return `| ${[ENGINES[engine], [shown(counts), ...notes].join('; '), state, time(seconds), commits.join(', '), last.seed, command].join(' | ')} |`
}

function shown(counts: Counts): string {
  return Object.entries(counts)
    .map(([unit, count]) => `${count.toLocaleString('en')} ${unit}`)
    .join(', ')
}

function time(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${(seconds / 3600).toFixed(1)} h`
}
