import { init, validate } from 'handbill';

const { root, made } = await init('../new-project', { campaign: 'spring-sale', country: 'IE' });
console.log(made.includes('handbill.yaml'), (await validate([], { cwd: root })).valid);

/* prints
true true
*/
