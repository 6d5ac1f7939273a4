import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { exampleSheet } from '../support/example.ts'
import { onEnd } from '../support/on-end.ts'
import { cellAt, eventually, picture, SheetViewer, shows } from '../support/viewer.ts'

test('where a reverse proxy names the actor', { skip: NO_BROWSER }, async (t) => {
  const sheet = await exampleSheet()
  onEnd(t, () => sheet.cleanup())
  const viewer = await SheetViewer.on(t, sheet.path, { trustedActorHeader: 'x-forwarded-user' })
  // The browser plays the proxy.
  const context = await viewer.newContext({ extraHTTPHeaders: { 'x-forwarded-user': 'human:ann' } })
  // Somebody has chosen a name here before, as it was served without a proxy.
  await context.addInitScript(() => localStorage.setItem('colophon.actor', '"human:bob"'))
  const page = await viewer.open('/', context)

  await t.test('the page shows the actor that the proxy names, and why it cannot be changed', async () => {
    await page.getByRole('button', { name: 'You are human:ann' }).click()
    const popover = page.getByRole('dialog', { name: 'Actor' })
    await popover.getByText(/The reverse proxy in front of this server sets this name/).waitFor()
    assert.equal(await popover.getByRole('textbox').count(), 0)
    await picture(page, 'actor-fixed-light')
    await page.keyboard.press('Escape')
  })

  await t.test('writes have that actor', async () => {
    const capital = await cellAt(page, 0, 'Capital')
    await capital.click()
    await page.keyboard.type('Elsewhere')
    await page.keyboard.press('Enter')
    await eventually(async () => {
      const response = await context.request.get(`${viewer.url}/api/provenance?record_id=AD&field=capital`)
      const { actor, value } = (await response.json()) as { actor: string; value: string }
      assert.deepEqual([actor, value], ['human:ann', 'Elsewhere'])
    })
  })

  await t.test('past the proxy it shows the missing header', async () => {
    const direct = await viewer.open('/', await viewer.newContext())
    await direct.getByRole('button', { name: /^You are/ }).click()
    await shows(
      direct.getByRole('dialog', { name: 'Actor' }).getByRole('alert'),
      /the header x-forwarded-user, which names the actor, is missing/,
    )
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
