import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ColophonProcess } from '../support/colophon-process.ts'
import { exampleSheet } from '../support/example.ts'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'
import { commandsOf, comparable, curlMissing, runShell } from '../support/shell-commands.ts'

test(
  'the commands of the guide to proposals have the effect it describes',
  { skip: curlMissing },
  async (t) => {
    const example = await exampleSheet()
    onEnd(t, () => example.cleanup())
    const server = new ColophonProcess(t, ['serve', example.path, '--port', '0'])
    const address = `127.0.0.1:${await server.port()}`
    const blocks = codeBlocks(readPage('docs/guides/proposals.md'))
    const commands = blocks.flatMap(({ lang, text }) => (lang === 'sh' ? commandsOf(text) : []))
    const { outputs, statuses } = await runShell(
      commands.map((command) => command.replaceAll('127.0.0.1:3001', address)),
    )
    assert.deepEqual(new Set(statuses), new Set(['200']))
    const [, proposed, waiting, shown, accepted, provenance] = outputs
    const answers = blocks.flatMap(({ lang, text }) => (lang === 'json' ? [comparable(text)] : []))
    assert.deepEqual([comparable(proposed ?? ''), comparable(provenance ?? '')], answers)
    assert.equal((JSON.parse(waiting ?? '') as { waiting: number }).waiting, 1)
    const { records } = JSON.parse(shown ?? '') as { records: { fields: object[] }[] }
    assert.deepEqual(records[0]?.fields, [
      { field: 'capital', was: 'Vienna', now: 'Vienna', proposed: 'Wien', moved: false, decision: null },
    ])
    assert.equal((JSON.parse(accepted ?? '') as { decided_by: string }).decided_by, 'human:ann')
  },
)
