import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'
import { commandFolder, guideSteps, runStep } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const blocks = codeBlocks(readPage('docs/guides/at-the-terminal.md'))

test(
  'the guide to the terminal has the output of its commands, step by step',
  { skip: noTerminal },
  async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'colophon-terminal-'))
    onEnd(t, () => rm(root, { recursive: true, force: true }))
    const csv = blocks.find(({ lang }) => lang === 'csv')
    assert.match(csv?.before ?? '', /Save this as `books\.csv`:$/)
    await writeFile(join(root, 'books.csv'), csv?.text ?? '')
    const bin = await commandFolder(root)
    // The last one is for the reader's own shell.
    const steps = guideSteps(blocks).filter(({ commands }) => !commands.startsWith('source'))
    assert.equal(steps.filter(({ shown }) => shown !== null).length, 12)
    for (const step of steps) await runStep(t, step, { root, bin, columns: 100 })
  },
)
