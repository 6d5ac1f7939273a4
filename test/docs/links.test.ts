import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { codes, readPage } from '../support/markdown.ts'
import { anchors, brokenLinks, links, pagesIn } from '../support/links.ts'

const ROOT = join(import.meta.dirname, '..', '..')

test('every link between files of the repository leads somewhere', () => {
  const pages = pagesIn(ROOT)
  assert.ok(pages.includes('README.md') && pages.includes(join('docs', 'reference', 'http.md')))
  assert.deepEqual(brokenLinks(ROOT), [])
})

test('every test that SECURITY.md names exists', () => {
  // As code, not as links: the package has the page and not the tests.
  const named = codes(readPage('SECURITY.md')).filter((code) => /^(src|test)\/.+\.ts$/.test(code))
  assert.ok(named.length > 30)
  assert.deepEqual(
    named.filter((path) => !existsSync(join(ROOT, path))),
    [],
  )
})

test('every file that ARCHITECTURE.md names exists', () => {
  const named = codes(readPage('ARCHITECTURE.md')).filter((code) => /^[\w./*-]+\.(ts|js)$/.test(code))
  assert.ok(named.length > 40)
  assert.deepEqual(
    named.filter((name) => globSync([name, `src/**/${name}`], { cwd: ROOT }).length === 0),
    [],
  )
})

test('links are distinguished from code, and anchors are made from headings as GitHub does', () => {
  const page =
    '# A `GET /x` b\n\n## Two\n\n## Two\n\n[a](#two-1) `[b](#no)` [`c`](x.md#y)\n\n```md\n# no\n[d](e)\n```\n'
  assert.deepEqual([...anchors(page)], ['a-get-x-b', 'two', 'two-1'])
  assert.deepEqual(links(page), ['#two-1', 'x.md#y'])
})
