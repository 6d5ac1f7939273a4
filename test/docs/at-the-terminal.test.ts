import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'
import { BIN } from '../support/run-colophon.ts'
import { noTerminal, Terminal } from '../support/terminal.ts'

const blocks = codeBlocks(readPage('docs/guides/at-the-terminal.md'))

/** The commands of the guide, and what it shows of their output. */
function steps(): { commands: string; shown: string | null }[] {
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1]
    // The last one is for the reader's own shell.
    if (block.lang !== 'sh' || block.text.startsWith('source')) return []
    return [{ commands: block.text, shown: next?.lang === 'text' ? next.text : null }]
  })
}

/** Without what is another each time. */
function comparable(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '2026-11-21T10:00:00Z')
    .replaceAll(/[ \t]+$/gm, '')
    .trim()
}

test('the guide to the terminal comes out as it shows, step by step', { skip: noTerminal }, async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'colophon-terminal-'))
  onEnd(t, () => rm(root, { recursive: true, force: true }))
  const csv = blocks.find(({ lang }) => lang === 'csv')
  assert.match(csv?.before ?? '', /Save this as `books\.csv`:$/)
  await writeFile(join(root, 'books.csv'), csv?.text ?? '')
  await mkdir(join(root, 'bin'))
  await writeFile(join(root, 'bin', 'colophon'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, {
    mode: 0o755,
  })
  const all = steps()
  assert.equal(all.filter(({ shown }) => shown !== null).length, 11)
  for (const { commands, shown } of all) {
    const terminal = new Terminal(t, commands, {
      cwd: root,
      columns: 100,
      env: { PATH: `${join(root, 'bin')}:${process.env['PATH'] ?? ''}`, NO_COLOR: '1' },
    })
    if (shown?.includes('[y/N] y') === true) {
      await terminal.shows(/\[y\/N\] $/)
      terminal.type('y\r')
    }
    await terminal.end()
    if (shown !== null) assert.equal(comparable(terminal.left), comparable(shown), commands)
  }
})
