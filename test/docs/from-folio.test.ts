import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { followGuide } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const guide = codeBlocks(readPage('docs/guides/from-folio.md'))

test(
  'the guide to sheets of folio has the output of its commands, step by step',
  { skip: noTerminal },
  async (t) => {
    assert.equal(await followGuide(t, guide), 6)
  },
)
