import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { picture, Viewer } from '../support/viewer.ts'

const BUILT = join(import.meta.dirname, '..', '..', 'web', 'dist', 'verify.html')

test('a proof that the viewer makes is verified without a server', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  await viewer.post('/api/records', { actor: 'human:ann', records: [{ id: 'AD', capital: 'Andorra' }] })
  const page = await viewer.open('/?cell=AD~capital&panel=1')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download proof' }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'proof-ad-capital.json')
  const proof = await readFile(await download.path(), 'utf8')
  const upload = (text: string) => ({
    name: 'proof.json',
    mimeType: 'application/json',
    buffer: Buffer.from(text),
  })
  const result = page.locator('#result')

  await t.test('the page of the service asks for nothing and has no faults', async () => {
    const asked: string[] = []
    const faults: string[] = []
    // The grid asks for nothing more.
    await page.goto('about:blank')
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    page.on('console', (message) => faults.push(message.text()))
    await page.goto(`${viewer.url}/verify`)
    await page.setInputFiles('#file', upload(proof))
    await result.getByRole('heading', { name: 'The proof holds' }).waitFor()
    await result.getByText('"Andorra"', { exact: true }).waitFor()
    await picture(page, 'verify-light')
    assert.deepEqual(await axeFaults(page), [])
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.deepEqual(await axeFaults(page, { rules: ['color-contrast'] }), [])
    await page.setInputFiles('#file', upload(proof.replace('Andorra', 'Andorre')))
    await result.getByRole('heading', { name: 'The proof does not hold' }).waitFor()
    assert.deepEqual(await axeFaults(page, { rules: ['color-contrast'] }), [])
    await page.emulateMedia({ colorScheme: 'light' })
    assert.deepEqual([asked, faults], [['/verify'], []])
  })

  await t.test('the page as a file works the same', async () => {
    await page.goto(pathToFileURL(BUILT).href)
    await page.setInputFiles('#file', upload(proof))
    await result.getByRole('heading', { name: 'The proof holds' }).waitFor()
    await page
      .getByLabel('Checkpoint that you kept')
      .fill((JSON.parse(proof) as { checkpoint: string }).checkpoint)
    await result.getByText(/the one that you kept$/).waitFor()
    await page.getByLabel('Public key').fill('someone+00000000+AAAA')
    await result.getByRole('heading', { name: 'The public key is not one' }).waitFor()
  })
})
