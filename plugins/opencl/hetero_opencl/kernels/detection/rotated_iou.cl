// Intersection over union (IoU) of rotated boxes: x and y of the center, width, height, and the angle from the x axis
// to the y axis, multiplied by TURN. REAL is the C type to compute with. ROUNDING is the tolerance of the containment
// test, as a fraction of a side. BOX is the element type.
#define BOX_NUMBERS 5

typedef struct {
    REAL x, y;
} Point;

typedef struct {
    REAL x, y, width, height, cosine, sine;
} Box;

Box box_at(global const BOX *boxes, const int number)
{
    boxes += (long)number * BOX_NUMBERS;
    const REAL angle = TURN * (REAL)BOX_LOAD(boxes, 4);
    const Box box = {BOX_LOAD(boxes, 0), BOX_LOAD(boxes, 1), BOX_LOAD(boxes, 2),
                     BOX_LOAD(boxes, 3), cos(angle),         sin(angle)};
    return box;
}

REAL cross_product(const Point a, const Point b)
{
    return a.x * b.y - a.y * b.x;
}

Point minus(const Point a, const Point b)
{
    const Point difference = {a.x - b.x, a.y - b.y};
    return difference;
}

// The corners of a box in order along its border, relative to a point.
void find_corners_of(const Box box, const Point origin, Point *corners)
{
    for (int corner = 0; corner < 4; corner++) {
        const REAL x = (corner == 1 || corner == 2 ? (REAL)0.5f : (REAL)-0.5f) * box.width;
        const REAL y = (corner >= 2 ? (REAL)0.5f : (REAL)-0.5f) * box.height;
        corners[corner].x = x * box.cosine - y * box.sine + (box.x - origin.x);
        corners[corner].y = x * box.sine + y * box.cosine + (box.y - origin.y);
    }
}

bool contains(const Box box, const Point origin, const Point point)
{
    const REAL x = point.x - (box.x - origin.x), y = point.y - (box.y - origin.y);
    const REAL limit = (REAL)0.5f + (REAL)ROUNDING;
    return fabs(x * box.cosine + y * box.sine) <= box.width * limit &&
           fabs(y * box.cosine - x * box.sine) <= box.height * limit;
}

// Area of the intersection: the polygon of all corners of one box inside the other and of all crossings of sides.
REAL shared_area(const Box a, const Box b)
{
    const Point origin = {a.x, a.y}; // coordinates relative to a box have smaller rounding errors
    Point corners_a[4], corners_b[4], points[24];
    REAL angles[24];
    int found = 0;
    find_corners_of(a, origin, corners_a);
    find_corners_of(b, origin, corners_b);
    for (int i = 0; i < 4; i++) {
        if (contains(b, origin, corners_a[i]))
            points[found++] = corners_a[i];
        if (contains(a, origin, corners_b[i]))
            points[found++] = corners_b[i];
        const Point side_a = minus(corners_a[(i + 1) % 4], corners_a[i]);
        for (int j = 0; j < 4; j++) {
            const Point side_b = minus(corners_b[(j + 1) % 4], corners_b[j]), apart = minus(corners_b[j], corners_a[i]);
            const REAL slope = cross_product(side_a, side_b);
            const REAL along_a = cross_product(apart, side_b) / slope, along_b = cross_product(apart, side_a) / slope;
            if (slope != 0 && along_a >= 0 && along_a <= 1 && along_b >= 0 && along_b <= 1) {
                points[found].x = corners_a[i].x + along_a * side_a.x;
                points[found++].y = corners_a[i].y + along_a * side_a.y;
            }
        }
    }
    Point middle = {0, 0};
    for (int i = 0; i < found; i++) {
        middle.x += points[i].x / found;
        middle.y += points[i].y / found;
    }
    for (int i = 0; i < found; i++) {
        const Point point = minus(points[i], middle);
        const REAL angle = atan2(point.y, point.x);
        int place = i;
        for (; place > 0 && angles[place - 1] > angle; place--) {
            angles[place] = angles[place - 1];
            points[place] = points[place - 1];
        }
        angles[place] = angle;
        points[place] = point;
    }
    REAL sum = 0;
    for (int i = 0; i < found; i++)
        sum += cross_product(points[i], points[(i + 1) % found]);
    return fabs(sum) / 2;
}

REAL iou(const Box a, const Box b)
{
    const REAL area_a = a.width * a.height, area_b = b.width * b.height;
    const REAL reach = (hypot(a.width, a.height) + hypot(b.width, b.height)) / 2;
    if (!(hypot(a.x - b.x, a.y - b.y) < reach) || !(area_a > 0) || !(area_b > 0))
        return 0;
    const REAL shared = shared_area(a, b);
    return shared / (area_a + area_b - shared);
}
