import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { followGuide } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const guide = codeBlocks(readPage('docs/guides/changing-a-sheet.md'))

test('the guide to changes has the output of its commands, step by step', { skip: noTerminal }, async (t) => {
  assert.equal(await followGuide(t, guide), 9)
})
