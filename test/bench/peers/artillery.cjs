/** What artillery.yml calls: the next row of the list, and the text for it. One worker runs all virtual users. */
let next = 0;

function nextPerson(context, _events, done) {
  const person = context.vars.people[next];
  next += 1;
  context.vars.msisdn = person?.msisdn.trim();
  context.vars.text = person && textOf(person);
  done();
}

function anyLeft(context, done) {
  done(next < context.vars.people.length);
}

function textOf({ name, order, branch }) {
  const where = branch === '' ? '' : ` Collect it in ${branch}.`;
  return `Hello ${name === '' ? 'there' : name}, your order ${order} is ready.${where} Riverside`;
}

module.exports = { nextPerson, anyLeft };
