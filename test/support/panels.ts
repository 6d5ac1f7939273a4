import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { axeFaults, type AxeScope } from './axe-faults.ts'
import { eventually, hoverHead, painted, picture } from './viewer.ts'

/**
 * Asserts that axe finds nothing in a part of the page in both themes, and takes a picture of each. The themes differ in their colours
 * alone. every-page.test.ts looks at whole pages.
 */
export async function assertAccessible(page: Page, name: string, scope: AxeScope): Promise<void> {
  await picture(page, `${name}-light`)
  assert.deepEqual(await axeFaults(page, scope), [])
  await page.emulateMedia({ colorScheme: 'dark' })
  await paintedWith(page, 'dark')
  await picture(page, `${name}-dark`)
  assert.deepEqual(await axeFaults(page, { ...scope, rules: ['color-contrast'] }), [], 'dark')
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Waits until a page is painted in a theme: on a busy machine some elements have the colours of the earlier one for a moment. */
async function paintedWith(page: Page, theme: 'dark' | 'light'): Promise<void> {
  await page.waitForFunction(`matchMedia('(prefers-color-scheme: ${theme})').matches`)
  await painted(page)
}

/** Opens the menu of a column. */
export async function openMenu(page: Page, title: string): Promise<Locator> {
  await hoverHead(page, title)
  await page.getByRole('button', { name: `Menu of ${title}` }).click()
  return page.getByRole('menu', { name: `Menu of ${title}` })
}

/** Goes to the head of a column with the keyboard alone. */
export async function focusHead(page: Page, title: string): Promise<void> {
  const head = page.getByRole('columnheader', { name: title, exact: true })
  const column = Number(await head.getAttribute('aria-colindex')) - 2
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('ArrowUp')
  for (let step = 0; step < column; step += 1) await page.keyboard.press('ArrowRight')
  await eventually(async () => assert.match((await head.getAttribute('class')) ?? '', /\bactive\b/))
}

/** Opens the menu of a column by keyboard, and chooses from it by typing how the item begins. */
export async function chooseByKeyboard(page: Page, title: string, item: string): Promise<void> {
  await focusHead(page, title)
  await page.keyboard.press('Space')
  const menu = page.getByRole('menu', { name: `Menu of ${title}` })
  await menu.waitFor()
  await page.keyboard.type(item)
  await menu.getByRole('menuitem', { name: item }).and(page.locator('[data-highlighted]')).waitFor()
  await page.keyboard.press('Enter')
}

/** Begins a new derivation of the field Capital by an HTTP request, up to the button that continues. */
export async function beginCapital(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'New derivation…' }).click()
  const dialog = page.getByRole('dialog', { name: 'New derivation' })
  await dialog.getByRole('checkbox', { name: 'Capital', exact: true }).check()
  await dialog.getByRole('radio', { name: /^HTTP request/ }).check()
  return dialog
}
