import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ColophonProcess } from '../support/colophon-process.ts'
import { exampleSheet } from '../support/example.ts'
import { codeBlocks, readPage } from '../support/markdown.ts'
import { onEnd } from '../support/on-end.ts'
import { commandsOf, curlMissing, runShell } from '../support/shell-commands.ts'

const blocks = codeBlocks(readPage('docs/guides/paid-apis.md'))

interface Plan {
  readonly targets: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly calls: number
  readonly cost: number
}

test(
  'the commands of the guide to paid APIs have the effect it describes',
  { skip: curlMissing },
  async (t) => {
    const example = await exampleSheet()
    onEnd(t, () => example.cleanup())
    const transport = blocks.find(({ lang }) => lang === 'yaml')
    assert.ok(transport)
    // The guide's host is none that is there; its pace would make this a long test.
    const policies = transport.text.replace('api.example.com', '127.0.0.1').replace('600/min', '1000/s')
    await writeFile(join(example.path, 'transport.yaml'), policies)
    const server = new ColophonProcess(t, ['serve', example.path, '--port', '0', '--actor', 'human:you'])
    const port = await server.port()

    const commands = blocks.flatMap(({ lang, text }) => (lang === 'sh' ? commandsOf(text) : []))
    const [token = '', ...others] = commands
    assert.match(token, /^TOKEN=/)
    let lastRun = ''
    const outputs: string[] = []
    for (const command of others) {
      // Runs are numbered as they come; the guide's is whichever began last.
      const local = command
        .replaceAll('127.0.0.1:3001', `127.0.0.1:${port}`)
        .replace('/runs/7/', `/runs/${lastRun}/`)
        .replace('"run_id": "7"', `"run_id": "${lastRun}"`)
      const { outputs: own, statuses } = await runShell([
        token.replace('127.0.0.1:3001', `127.0.0.1:${port}`),
        local,
      ])
      const status = statuses.at(-1)
      const output = own.at(-1) ?? ''
      outputs.push(output)
      lastRun = /^location: \/api\/runs\/(\d+)/im.exec(output)?.[1] ?? lastRun
      if (command.includes('/cancel')) {
        // By then its run has come to its end, which the guide's would not have.
        assert.equal(status, '400', output)
        assert.match(output, /is not running any more, it is finished/)
      } else {
        assert.equal(status, command.includes('respond-async') ? '202' : '200', `${command}\n${output}`)
      }
    }

    const [plan, trial, bounded, started, watched, , reused, reverted] = outputs
    assert.equal(outputs.length, 8)
    const shown = JSON.parse(blocks.find(({ lang }) => lang === 'json')?.text ?? '') as Plan
    const planned = JSON.parse(plan ?? '') as Plan & { at_most?: boolean }
    assert.deepEqual(
      Object.keys(planned).filter((member) => member !== 'at_most'),
      Object.keys(shown),
    )
    assert.deepEqual(
      Object.keys(Object.values(planned.targets)[0] ?? {}),
      Object.keys(Object.values(shown.targets)[0] ?? {}),
    )
    assert.equal(planned.cost, planned.calls / 500)
    assert.equal(shown.cost, shown.calls / 500, 'the guide’s plan costs what its transport.yaml says')
    assert.ok((JSON.parse(trial ?? '') as { materialized: number }).materialized <= 5 * 12)
    assert.ok((JSON.parse(bounded ?? '') as { total_cost: number }).total_cost <= 20)
    assert.match(started ?? '', /"state":"(?:running|finished)"/)
    assert.match(watched ?? '', /event: run\.end/)
    // All is computed by then but what failed, of which no response is kept.
    const again = JSON.parse(reused ?? '') as { total_cost: number; failures: readonly unknown[] }
    assert.equal(again.total_cost, again.failures.length / 500)
    assert.match(reverted ?? '', /^\{"reverted":\d+,"conflicts":\[\],"run_id":"\d+"\}$/)
  },
)
