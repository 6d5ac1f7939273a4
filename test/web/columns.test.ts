import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { chooseByKeyboard as choose, openMenu } from '../support/panels.ts'
import { cellAt, eventually, picture, scrollSideways, settled, Viewer } from '../support/viewer.ts'

/** The names of the heads, from left to right. */
function order(page: Page): Promise<string[]> {
  return page
    .locator('.grid-head-cell')
    .evaluateAll((heads) => heads.map((head) => String(head.getAttribute('aria-label'))))
}

async function widthOf(page: Page, title: string): Promise<number> {
  const box = await page.getByRole('columnheader', { name: title, exact: true }).boundingBox()
  assert.ok(box)
  return Math.round(box.width)
}

test('columns', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  await t.test('by mouse', (part) => byMouse(part, viewer))
  await t.test('by keyboard', (part) => byKeyboard(part, viewer))
  viewer.assertCalm()
})

async function byMouse(t: TestContext, viewer: Viewer): Promise<void> {
  const page = await viewer.open()

  await t.test(
    'a column can be added without scrolling, also where the last head is out of view',
    async () => {
      const add = page.getByRole('button', { name: 'Add a column' })
      for (const width of [800, 1440, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        await eventually(async () => {
          const box = await add.boundingBox()
          assert.ok(box !== null && box.x + box.width <= width, `visible at ${width} px`)
        })
        await picture(page, `columns-add-${width}`)
      }
      await add.click()
      await page.getByRole('complementary', { name: 'Add a column' }).waitFor()
      await page.keyboard.press('Escape')
      await scrollSideways(page, 0)
    },
  )

  await t.test('a column is resized by its edge', async () => {
    const before = await widthOf(page, 'Name')
    const box = await page.getByRole('columnheader', { name: 'Name', exact: true }).boundingBox()
    assert.ok(box)
    await page.mouse.move(box.x + box.width - 1, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width + 39, box.y + 25, { steps: 4 })
    await page.mouse.move(box.x + box.width + 79, box.y + 25, { steps: 4 })
    await eventually(async () => assert.equal(await widthOf(page, 'Name'), before + 80))
    await page.mouse.up()
    assert.equal(await widthOf(page, 'Name'), before + 80)
    const cell = await (await cellAt(page, 0, 'Name')).boundingBox()
    assert.equal(Math.round(cell?.width ?? 0), before + 80)
  })

  await t.test('Escape cancels resizing', async () => {
    const before = await widthOf(page, 'Name')
    const box = await page.getByRole('columnheader', { name: 'Name', exact: true }).boundingBox()
    assert.ok(box)
    await page.mouse.move(box.x + box.width - 1, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width + 60, box.y + 20, { steps: 3 })
    await page.keyboard.press('Escape')
    await page.mouse.up()
    await eventually(async () => assert.equal(await widthOf(page, 'Name'), before))
  })

  await t.test('a double click on an edge fits the column to the visible values', async () => {
    const box = await page.getByRole('columnheader', { name: 'Name', exact: true }).boundingBox()
    assert.ok(box)
    await page.mouse.dblclick(box.x + box.width - 1, box.y + 20)
    await eventually(async () => assert.notEqual(await widthOf(page, 'Name'), Math.round(box.width)))
    const value = (await cellAt(page, 0, 'Name')).locator('.value')
    assert.ok(await value.evaluate((element) => element.scrollWidth <= element.clientWidth))
  })

  await t.test('dragging a header moves its column', async () => {
    const before = await order(page)
    const [, first = '', second = '', third = ''] = before
    const from = await page.getByRole('columnheader', { name: first, exact: true }).boundingBox()
    const to = await page.getByRole('columnheader', { name: third, exact: true }).boundingBox()
    assert.ok(from && to)
    await page.mouse.move(from.x + 40, from.y + 18)
    await page.mouse.down()
    await page.mouse.move(from.x + 60, from.y + 18, { steps: 2 })
    await page.mouse.move(to.x + to.width / 2, to.y + 18, { steps: 6 })
    await page.locator('.grid-drop-mark').waitFor()
    await picture(page, 'column-dragged-light')
    await page.mouse.up()
    await eventually(async () => assert.deepEqual((await order(page)).slice(1, 4), [second, third, first]))
    assert.equal(new URL(page.url()).searchParams.get('sort'), null)
  })

  await t.test('a right click opens the menu of a column, and chooses nothing in it', async () => {
    const head = page.getByRole('columnheader', { name: 'Region', exact: true })
    await head.click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Sort ascending' }).waitFor()
    assert.equal(await head.getAttribute('aria-sort'), 'none')
    await page.keyboard.press('Escape')
  })

  await t.test('a column is pinned by its menu, and stays visible when the others scroll', async () => {
    await openMenu(page, 'Region')
    await page.getByRole('menuitem', { name: 'Pin left' }).click()
    await eventually(async () => assert.deepEqual((await order(page)).slice(0, 2), ['Code', 'Region']))
    await scrollSideways(page, 900)
    await eventually(async () => assert.ok(!(await order(page)).includes('Name')))
    const box = await page.getByRole('columnheader', { name: 'Region', exact: true }).boundingBox()
    assert.ok(box && box.x < 300)
    await scrollSideways(page, 0)
  })

  await t.test('a column is hidden in the list of columns', async () => {
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Capital', exact: true }).uncheck()
    await page.keyboard.press('Escape')
    await eventually(async () => assert.ok(!(await order(page)).includes('Capital')))
  })

  await t.test('a reload keeps widths, order, pinned and hidden columns', async () => {
    const before = [await order(page), await widthOf(page, 'Name')]
    await page.reload()
    await settled(page)
    assert.deepEqual([await order(page), await widthOf(page, 'Name')], before)
  })

  await t.test('a hidden column is shown again in the list of columns', async () => {
    await page.getByRole('button', { name: 'Columns, 1 hidden' }).click()
    await page.getByRole('checkbox', { name: 'Capital', exact: true }).check()
    await page.keyboard.press('Escape')
    await eventually(async () => assert.ok((await order(page)).includes('Capital')))
  })
}

async function byKeyboard(t: TestContext, viewer: Viewer): Promise<void> {
  const page = await viewer.open()
  const before = await order(page)
  const [, first = '', second = ''] = before

  await t.test('wider, and narrower again, while the menu stays', async () => {
    const width = await widthOf(page, first)
    await choose(page, first, 'Wider')
    await eventually(async () => assert.equal(await widthOf(page, first), width + 40))
    await page.keyboard.press('Enter')
    await eventually(async () => assert.equal(await widthOf(page, first), width + 80))
    await page.keyboard.press('ArrowDown')
    await page.locator('[data-highlighted]').getByText('Narrower').waitFor()
    await page.keyboard.press('Enter')
    await eventually(async () => assert.equal(await widthOf(page, first), width + 40))
    await page.keyboard.press('Escape')
    await page.locator('.grid-input :focus').waitFor()
  })

  await t.test('to another place', async () => {
    await choose(page, first, 'Move right')
    await eventually(async () => assert.deepEqual((await order(page)).slice(1, 3), [second, first]))
  })

  await t.test('pinned, and not pinned', async () => {
    await choose(page, second, 'Pin left')
    const pinned = [before[0], second]
    await eventually(async () => assert.deepEqual((await order(page)).slice(0, 2), pinned))
    const isStill = async (): Promise<boolean> => {
      await scrollSideways(page, 1400)
      await eventually(async () => assert.ok(!(await order(page)).includes(first)))
      const shown = await order(page)
      await scrollSideways(page, 0)
      await eventually(async () => assert.ok((await order(page)).includes(first)))
      return shown.includes(second)
    }
    assert.equal(await isStill(), true)
    await choose(page, second, 'Unpin')
    await eventually(async () => assert.equal(await isStill(), false))
  })

  await t.test('hidden, and all back as the contract has them', async () => {
    await choose(page, first, 'Hide column')
    await eventually(async () => assert.ok(!(await order(page)).includes(first)))
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Reset the columns')
    await page.keyboard.press('Enter')
    await eventually(async () => assert.deepEqual(await order(page), before))
  })
}
