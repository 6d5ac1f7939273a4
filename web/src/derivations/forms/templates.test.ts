import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { KIND_TEMPLATES, templateText } from './templates.ts'

test('the template of each kind is YAML with its targets and its kind', () => {
  for (const template of KIND_TEMPLATES) {
    for (const targets of [['rate'], ['rate', 'rate_date']]) {
      const file = parse(templateText(template, { targets, input: 'currency' })) as Record<string, unknown>
      assert.deepEqual([file['targets'], file['kind']], [targets, template.kind])
    }
  }
})
