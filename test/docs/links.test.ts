import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { headings, readPage, withoutCode } from '../support/markdown.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SKIPPED = new Set(['node_modules', 'dist', 'coverage'])

function pagesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name.startsWith('.') || SKIPPED.has(entry.name) ? [] : pagesIn(path)
    return entry.name.endsWith('.md') ? [relative(ROOT, path)] : []
  })
}

/** The anchors of a page as GitHub makes them: letters, digits, `_` and `-` in lower case; repeats are numbered. */
function anchors(page: string): Set<string> {
  const seen = new Map<string, number>()
  const names = headings(page).map(({ title }) => {
    const text = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const name = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    return count === 0 ? name : `${name}-${count}`
  })
  return new Set(names)
}

/** Targets of links and images; code is no link. */
function links(page: string): string[] {
  const text = withoutCode(page).replaceAll(/`([^`\n]*)`/g, (code) => (code.includes('](') ? '' : code))
  const inline = [...text.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)]
  const defined = [...text.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)]
  return [...inline, ...defined].map(([, target = '']) => target)
}

function fault(page: string, target: string): string | null {
  const [path = '', anchor] = target.split('#', 2)
  const file = path === '' ? page : join(dirname(page), decodeURIComponent(path))
  if (file.startsWith('..')) return 'leads out of the repository'
  if (!existsSync(join(ROOT, file))) return 'there is no such file'
  if (anchor === undefined) return null
  if (statSync(join(ROOT, file)).isDirectory() || !file.endsWith('.md')) return 'an anchor in what is no page'
  return anchors(readPage(file)).has(anchor) ? null : 'there is no such heading'
}

test('every link between files of the repository leads somewhere', () => {
  const pages = pagesIn(ROOT)
  assert.ok(pages.includes('README.md') && pages.includes(join('docs', 'reference', 'http.md')))
  const faults = pages.flatMap((page) =>
    links(readPage(page))
      .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
      .flatMap((target) => {
        const found = fault(page, target)
        return found === null ? [] : [`${page}: ${target}: ${found}`]
      }),
  )
  assert.deepEqual(faults, [])
})

test('links are told from code, and anchors from headings, as GitHub does it', () => {
  const page =
    '# A `GET /x` b\n\n## Two\n\n## Two\n\n[a](#two-1) `[b](#no)` [`c`](x.md#y)\n\n```md\n# no\n[d](e)\n```\n'
  assert.deepEqual([...anchors(page)], ['a-get-x-b', 'two', 'two-1'])
  assert.deepEqual(links(page), ['#two-1', 'x.md#y'])
})
