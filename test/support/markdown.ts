import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

/** Returns the text of a page; `path` is relative to the root of the repository. */
export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

export interface Heading {
  readonly level: number
  /** As written, with Markdown. */
  readonly title: string
  /** Index of its line. */
  readonly line: number
}

/** Returns the headings of a page, except those in code blocks. */
export function headings(page: string): readonly Heading[] {
  return withoutCode(page)
    .split('\n')
    .flatMap((text, line) => {
      const [, marks, title] = /^(#{1,6}) (.+)$/.exec(text) ?? []
      return marks === undefined || title === undefined ? [] : [{ level: marks.length, title, line }]
    })
}

/** Returns the text under a heading, down to the next one of its level or above. Throws if the heading does not exist. */
export function section(page: string, title: string): string {
  const all = headings(page)
  const start = all.findIndex((heading) => heading.title === title)
  const from = all[start]
  if (from === undefined) throw new Error(`the page has no heading "${title}"`)
  const end = all.slice(start + 1).find(({ level }) => level <= from.level)
  return page
    .split('\n')
    .slice(from.line + 1, end?.line)
    .join('\n')
}

/** A table: its header and rows, cell by cell, as written. */
export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Returns the tables of a page or section. */
export function tables(text: string): readonly Table[] {
  const found: string[][] = []
  let before = ''
  for (const line of withoutCode(text).split('\n')) {
    if (line.startsWith('|')) {
      if (!before.startsWith('|')) found.push([])
      found.at(-1)?.push(line)
    }
    before = line
  }
  return found.map(([head = '', , ...rows]) => ({ head: cells(head), rows: rows.map(cells) }))
}

/** Returns the table whose first column has this header. Throws if there is none, or more than one. */
export function tableOf(text: string, firstColumn: string): Table {
  const [table, second] = tables(text).filter(({ head }) => head[0] === firstColumn)
  if (table === undefined || second !== undefined) {
    throw new Error(`there is ${table ? 'more than one' : 'no'} table with the column "${firstColumn}"`)
  }
  return table
}

function cells(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** Returns the inline code in a text, in order. */
export function codes(text: string): string[] {
  return [...withoutCode(text).matchAll(/`([^`\n]+)`/g)].map(([, inside = '']) => inside)
}

/** Returns the single inline code of a table's cell. Throws for none or several. */
export function code(cell: string | undefined): string {
  const [first, second] = codes(cell ?? '')
  if (first === undefined || second !== undefined) throw new Error(`not one piece of code: ${cell}`)
  return first
}

export interface CodeBlock {
  readonly lang: string
  /** With the line break at its end. */
  readonly text: string
  /** The preceding paragraph, heading or block. */
  readonly before: string
}

/** Returns the code blocks of a page or section. */
export function codeBlocks(text: string): readonly CodeBlock[] {
  return [...text.matchAll(/^```(\S*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const before = text.slice(0, match.index).trimEnd().split('\n\n').at(-1) ?? ''
    return { lang: match[1] ?? '', text: match[2] ?? '', before }
  })
}

/** Returns the text with emptied code blocks, line for line. */
export function withoutCode(text: string): string {
  return text.replace(/^```.*\n[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ''))
}
