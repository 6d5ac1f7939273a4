import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'
import { commandFolder, guideSteps, runStep } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const guide = codeBlocks(readPage('docs/guides/from-folio.md'))

test(
  'the guide to sheets of folio has the output of its commands, step by step',
  { skip: noTerminal },
  async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'colophon-guide-'))
    onEnd(t, () => rm(root, { recursive: true, force: true }))
    for (const { before, text } of guide) {
      const name = /Save this as `([^`]+)`:$/.exec(before.replaceAll('\n', ' '))?.[1]
      if (name === undefined) continue
      await mkdir(dirname(join(root, name)), { recursive: true })
      await writeFile(join(root, name), text)
    }
    const bin = await commandFolder(root)
    const steps = guideSteps(guide)
    assert.equal(steps.length, 6)
    for (const step of steps) await runStep(t, step, { root, bin, columns: 160, env: {} })
  },
)
